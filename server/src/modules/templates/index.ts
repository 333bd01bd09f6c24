/**
 * Templates: what an author wrote for each locale and variant of a campaign. Owns `campaign_templates`, `template_versions` and `template_attachments`. They are checked, compiled and
 * linted when they are saved, previewed for a user or a sample, chosen by locale and variant, and rendered for each message. Promises:
 * a saved template renders unless a finding says that it does not; compiling loses no Liquid tag.
 */

export {
  attachmentsOfTemplate,
  copyAttachments,
  deleteAttachment,
  findAttachment,
  findTemplateId,
  listAttachments,
  saveAttachment,
  smallestFiles,
  touchTemplate,
} from './attachments.queries.ts'
export {
  ATTACHMENT_BODY_BYTES_MAX,
  ATTACHMENT_BYTES_MAX,
  ATTACHMENTS_MAX,
  allAttachments,
  attachmentFaults,
  MessageAttachment,
  pathAttachment,
  TemplateAttachment,
  TemplateAttachmentInput,
  TemplateAttachmentWhole,
  withInlineImages,
} from './attachments.ts'
export { chooseTemplate } from './choose.ts'
export { templateComponents } from './components.ts'
export { lintTemplates, previewTemplate } from './preview.ts'
export {
  copyTemplates,
  deleteTemplate,
  saveTemplate,
  storesMjml,
  type TemplatePlace,
  templatesOf,
  variantsWithTemplate,
} from './queries.ts'
export { checkAndCompile, findingsOf, sendableContent, sendableTemplatesOf, templateChooser, tryRender } from './ready.ts'
export { asCallerSees, lintContextOf, sampleLinks, sampleUser } from './sample.ts'
export {
  Content,
  Finding,
  LintReport,
  Preview,
  PreviewInput,
  SavedTemplate,
  type SendableTemplate,
  Template,
  type TemplateRow,
  TemplateVersion,
  TemplateVersionWhole,
  TestInput,
  TestReport,
} from './schema.ts'
export { scopeOf } from './scope.ts'
export { VariantName, variantName, variantNumber } from './variants.ts'
export { findVersion, keepFirstVersions, keepVersion, listVersions } from './versions.queries.ts'
