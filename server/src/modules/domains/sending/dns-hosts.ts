/** Which company hosts the DNS of a domain, as a hint where to add its records. Pure. */

/** Ends of the names of name servers. */
const HOSTS: readonly [name: string, suffixes: readonly string[]][] = [
  ['Cloudflare', ['cloudflare.com']],
  ['Amazon Route 53', ['awsdns.com', 'awsdns.net', 'awsdns.org', 'awsdns.co.uk']],
  ['Google Cloud DNS', ['googledomains.com', 'google.com']],
  ['Azure DNS', ['azure-dns.com', 'azure-dns.net', 'azure-dns.org', 'azure-dns.info']],
  ['GoDaddy', ['domaincontrol.com']],
  ['Namecheap', ['registrar-servers.com', 'namecheaphosting.com']],
  ['DigitalOcean', ['digitalocean.com']],
  ['Hetzner', ['hetzner.com', 'hetzner.de', 'your-server.de']],
  ['OVHcloud', ['ovh.net', 'anycast.me']],
  ['IONOS', ['ui-dns.com', 'ui-dns.de', 'ui-dns.org', 'ui-dns.biz']],
  ['Gandi', ['gandi.net']],
  ['Vercel', ['vercel-dns.com']],
  ['Netlify', ['nsone.net']],
  ['DNSimple', ['dnsimple.com', 'dnsimple-edge.net']],
  ['Squarespace', ['squarespacedns.com']],
  ['Wix', ['wixdns.net']],
  ['Hostinger', ['dns-parking.com']],
  ['VentraIP', ['nameserver.net.au']],
]

/** The company that runs these name servers, or else the name of the first one. Null if there is none. */
export function dnsHostOf(nameServers: readonly string[]): string | null {
  const names = nameServers.map((name) => name.toLowerCase().replace(/\.$/, '')).sort()
  // Route 53 has numbers in the second label from the end: `ns-12.awsdns-34.co.uk`.
  const plain = names.map((name) => name.replace(/\.awsdns-\d{1,3}\./, '.awsdns.'))
  const known = HOSTS.find(([, suffixes]) =>
    plain.some((name) => suffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))),
  )
  return known?.[0] ?? names[0] ?? null
}
