// Command urnd resolves URNs and normalizes URIs, as a daemon and on the
// command line.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/urnd/urnd/internal/redact"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := newRoot().ExecuteContext(ctx)
	stop()
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(os.Stderr, "urnd:", redact.URLs(err.Error()))
	}
	if err != nil {
		os.Exit(1)
	}
}
