/** The processes that use an embedded PostgreSQL: its owner, who is to stop it, and guests, who get it from an owner that ends before them. */
import { type Access, type ClusterPaths, type Owner, readAccess, saveAccess } from './embedded-postgres-cluster.ts'
import { isAlive, locked } from './embedded-postgres-processes.ts'

const guestsOf = ({ guests = [] }: Access, self: Owner): Owner[] => guests.filter((guest) => guest.token !== self.token && isAlive(guest))

const isGuest = ({ owner }: Access, self: Owner): boolean => owner !== undefined && owner.token !== self.token && isAlive(owner)

/** The access when a process begins to use a running server. It becomes the owner if there is none that is alive. */
export const entered = (access: Access, self: Owner): Access =>
  isGuest(access, self)
    ? { ...access, guests: [...guestsOf(access, self), self] }
    : { ...access, owner: self, guests: guestsOf(access, self) }

/** The access when a process ends its use of the server; undefined if no other one uses it. */
function left(access: Access, self: Owner): Access | undefined {
  const guests = guestsOf(access, self)
  if (isGuest(access, self)) return { ...access, guests }
  const [owner, ...rest] = guests
  return owner && { ...access, owner, guests: rest }
}

/** Ends the use of a server, and runs `stop` if no other process uses it. No process begins to use it meanwhile. */
export async function leave(paths: ClusterPaths, self: Owner, stop: () => Promise<void>): Promise<void> {
  const others = () => {
    const access = readAccess(paths)
    return access && left(access, self)
  }
  const leaveLocked = async () => {
    const access = others()
    if (access) saveAccess(paths, access)
    else await stop()
  }
  await locked(paths.lock, leaveLocked).catch(async () => {
    // Nothing can be written: the disk is full, or the folder is gone.
    const access = readAccess(paths)
    if (!access || !isGuest(access, self)) await stop()
  })
}
