package health

import (
	"crypto/rand"
	"fmt"
	"os"
)

// NewHolder returns a name for Config.Holder that no other instance has, nor an earlier one of this machine.
func NewHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
}
