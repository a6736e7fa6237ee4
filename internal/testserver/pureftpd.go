package testserver

import (
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// StartPureFTPd starts Pure-FTPd, which serves a folder accessible to every user (OpenFolder) to a user with a
// password. Its anonymous user would get the folder of a system user. arguments are added to its own.
func StartPureFTPd(t testing.TB, dir, user, password string, arguments ...string) *FTPServer {
	t.Helper()
	users := Need(t, "pure-pw")
	return startFTPServer(t, ftpProgram{
		path: Need(t, "pure-ftpd"),
		arguments: func(addr netip.AddrPort, own string) ([]string, error) {
			const noClient = "65534"
			text, database := filepath.Join(own, "users"), filepath.Join(own, "users.pdb")
			cmd := exec.Command(users, "useradd", user, "-u", noClient, "-g", noClient, "-d", dir, "-f", text, "-F",
				database, "-m")
			cmd.Stdin = strings.NewReader(password + "\n" + password + "\n")
			if output, err := cmd.CombinedOutput(); err != nil {
				return nil, fmt.Errorf("%w\n%s", err, output)
			}
			if err := os.Chmod(database, 0o644); err != nil {
				return nil, err
			}
			return append([]string{
				"-S", addr.Addr().String() + "," + strconv.Itoa(int(addr.Port())), "-H", "-E", "-u", "1",
				"-l", "puredb:" + database, "-g", filepath.Join(own, "pid"),
			}, arguments...), nil
		},
	})
}
