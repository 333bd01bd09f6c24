type File = { name: string; type: string; text: string }

/** Saves a text as a file on the device of the member. */
export function saveFile({ name, type, text }: File): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
