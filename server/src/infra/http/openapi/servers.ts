/** The server that the committed description names: one that was started on this machine with the defaults. */
export const LOCAL_SERVER = 'http://127.0.0.1:3000'
