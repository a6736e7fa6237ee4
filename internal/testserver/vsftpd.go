package testserver

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vsftpdConfig permits several servers side by side. The home of the user must exist, although it is not used.
const vsftpdConfig = `listen=YES
listen_address=%s
listen_port=%d
background=NO
anonymous_enable=YES
local_enable=NO
anon_root=%s
ftp_username=daemon
nopriv_user=nobody
anon_world_readable_only=NO
ascii_download_enable=YES
secure_chroot_dir=%s
xferlog_enable=NO
`

// StartVsftpd starts vsftpd, which serves a folder accessible to every user (OpenFolder), read-only, to the
// user anonymous. lines are added to its configuration.
func StartVsftpd(t testing.TB, dir string, lines ...string) *FTPServer {
	t.Helper()
	return startFTPServer(t, ftpProgram{
		path: Need(t, "vsftpd"),
		arguments: func(addr netip.AddrPort, own string) ([]string, error) {
			empty, file := filepath.Join(own, "empty"), filepath.Join(own, "vsftpd.conf")
			if err := os.MkdirAll(empty, 0o755); err != nil {
				return nil, err
			}
			text := fmt.Sprintf(vsftpdConfig, addr.Addr(), addr.Port(), dir, empty) + strings.Join(lines, "\n") + "\n"
			return []string{file}, os.WriteFile(file, []byte(text), 0o600)
		},
	})
}
