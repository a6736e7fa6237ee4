package testserver

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proftpdConfig permits several servers side by side with files in separate folders. The server itself remains
// root, because it would not end with the test after changing its user (see asNobody); its sessions change
// theirs.
const proftpdConfig = `ServerName test
ServerType standalone
DefaultAddress %[1]s
SocketBindTight on
Port %[2]d
UseIPv6 off
UseReverseDNS off
UseFtpUsers off
RequireValidShell off
User root
Group root
ModulePath /usr/lib/proftpd
PidFile %[3]s/pid
ScoreboardFile %[3]s/scoreboard
DelayEngine off
SystemLog %[3]s/log
TransferLog none
WtmpLog off
<Anonymous %[4]s>
	User nobody
	Group nogroup
	UserAlias anonymous nobody
</Anonymous>
`

// StartProFTPD starts ProFTPD, which serves a folder accessible to every user (OpenFolder) to the user
// anonymous. lines precede its configuration.
func StartProFTPD(t testing.TB, dir string, lines ...string) *FTPServer {
	t.Helper()
	return startFTPServer(t, ftpProgram{
		path: Need(t, "proftpd"),
		arguments: func(addr netip.AddrPort, own string) ([]string, error) {
			file := filepath.Join(own, "proftpd.conf")
			text := strings.Join(lines, "\n") + "\n" + fmt.Sprintf(proftpdConfig, addr.Addr(), addr.Port(), own, dir)
			return []string{"-n", "-q", "-c", file}, os.WriteFile(file, []byte(text), 0o600)
		},
	})
}
