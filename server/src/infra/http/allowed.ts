/**
 * What is allowed at the path of a request, as `Allow` lists it, or undefined if no route has the path. Only methods that no route has, such
 * as TRACE, need it: the router knows the others. To give it all of them at every path would cost more than to look for a path here. Pure.
 */
export function allowedAt(allowed: ReadonlyMap<string, string>): (url: string) => string | undefined {
  const known = [...allowed].map(([path, allow]) => ({ parts: path.split('/'), allow }))
  // A name goes before a parameter, as in the router.
  const parameters = (parts: string[]) => parts.filter(isParameter).length
  known.sort((a, b) => parameters(a.parts) - parameters(b.parts))
  return (url) => {
    const [path = ''] = url.split('?')
    const given = (path.endsWith('/') ? path.slice(0, -1) : path).split('/')
    return known.find(({ parts }) => parts.length === given.length && parts.every((part, at) => fits(part, given[at])))?.allow
  }
}

const isParameter = (part: string): boolean => part.startsWith('{')

const fits = (part: string, given = ''): boolean => (isParameter(part) ? given !== '' : part === given)
