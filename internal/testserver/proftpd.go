package testserver

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proftpdConfig lets many servers run side by side: their files are in a folder of their own. The server itself stays
// root: one that changes its user no longer ends with the test (see asNobody). Its sessions do not.
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

// StartProFTPD starts ProFTPD, which serves a folder that every user can enter (OpenFolder) to the user
// anonymous. lines are put before its configuration.
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
