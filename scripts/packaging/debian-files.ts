import { createHash } from 'node:crypto'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const maintainer = 'The Lethe project <lethe@packages.invalid>'

/** The control file, which describes the package to dpkg. */
export function control(
  { version, architecture }: { version: string; architecture: string },
  kibibytes: number,
): string {
  return `Package: lethe
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${kibibytes}
Depends: libatomic1, libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 5.2), systemd (>= 247)
Suggests: nginx | caddy | haproxy, postgresql, redis-server
Section: web
Priority: optional
Description: management API for the data subjects of a web-analytics service
 Lists the visitors that a web-analytics service has stored something about,
 reads and exports the data of each, and erases it for good, with a receipt
 that anyone can verify.
 .
 One process with an embedded store and a console for the browser; or several,
 on PostgreSQL and Redis.
`
}

/** The changelog in Debian's format: an entry for this release, which refers to the full changelog. */
export function debianChangelog(version: string, date: Date): string {
  const when = date.toUTCString().replace('GMT', '+0000')
  return `lethe (${version}) unstable; urgency=medium

  * For the changes, see CHANGELOG.md in the sources, section ${version}.

 -- ${maintainer}  ${when}
`
}

/**
 * The machine-readable copyright file. Third-party code is inside the executable, and its licences are next
 * to this file.
 */
export function copyright(): string {
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: lethe
Comment: The executable holds Node.js and other works. Their licences and
 copyright notices stand in THIRD-PARTY-LICENCES.txt.gz beside this file.

Files: *
Copyright: 2026 The Lethe authors
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is found
 in /usr/share/common-licenses/Apache-2.0.
`
}

/**
 * The checksums of all files below a folder, in dpkg's format, without configuration files, which may change.
 */
export function md5sums(folder: string): string {
  return globSync('**/*', { cwd: folder })
    .filter(
      (file) =>
        statSync(join(folder, file)).isFile() && !file.startsWith('etc/') && !file.startsWith('DEBIAN/'),
    )
    .sort()
    .map(
      (file) =>
        `${createHash('md5')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}  ${file}\n`,
    )
    .join('')
}
