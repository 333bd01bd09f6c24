/**
 * What is allowed at the path of a request, as `Allow` lists it, or undefined if no route has the path. Only methods that no route has, such
 * as TRACE, need it: the router knows the others. To give it all of them at every path would cost more than to look for a path here. Pure.
 */
export function allowedAt(allowed: ReadonlyMap<string, string>): (url: string) => string | undefined {
  const known = [...allowed].map(([path, allow]) => ({ segments: path.split('/'), allow }))
  // A name goes before a parameter, as in the router.
  const parameters = (segments: string[]) => segments.filter(isParameter).length
  known.sort((a, b) => parameters(a.segments) - parameters(b.segments))
  return (url) => {
    const [path = ''] = url.split('?')
    const given = (path.endsWith('/') ? path.slice(0, -1) : path).split('/')
    return known.find(({ segments }) => segments.length === given.length && segments.every((segment, at) => fits(segment, given[at])))
      ?.allow
  }
}

const isParameter = (segment: string): boolean => segment.startsWith('{')

const fits = (segment: string, given = ''): boolean => (isParameter(segment) ? given !== '' : segment === given)
