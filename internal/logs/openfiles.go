package logs

import (
	"errors"
	"fmt"
	"syscall"
)

// ExplainOpenFiles returns what adds the limit of open files, where it is set, and the settings that stay below it, to an error of
// reaching it. It is for Config.Explain.
func ExplainOpenFiles(settings string) func(err error) error {
	return func(err error) error {
		var limit syscall.Rlimit
		if !errors.Is(err, syscall.EMFILE) || syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
			return err
		}
		return fmt.Errorf("%w: this process may open %d files and connections: "+
			"raise LimitNOFILE in the unit of systemd (systemctl edit urnd), or ulimit -n, "+
			"or lower %s", err, limit.Cur, settings)
	}
}
