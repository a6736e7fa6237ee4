package health

import (
	"crypto/rand"
	"fmt"
	"os"
)

// NewHolder returns a unique value for Config.Holder, which no other or earlier instance has.
func NewHolder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text()[:8])
}
