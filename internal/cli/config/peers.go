package config

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/redact"
)

// Peer is a server that a configuration names.
type Peer struct {
	Setting, Where string
	// Ask connects, and returns what the server is, or why it cannot be used. It ends soon after the context.
	Ask func(ctx context.Context) (found string, err error)
}

// answerWithin is how long each server has.
const answerWithin = 10 * time.Second

// ask asks all at once, and prints a line for each, in their order. Its error is how many cannot be used.
func ask(ctx context.Context, out io.Writer, peers []Peer) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	lines, failed := make([]string, len(peers)), make([]bool, len(peers))
	var all sync.WaitGroup
	for i, p := range peers {
		all.Go(func() {
			found, err := p.Ask(ctx)
			switch {
			case err != nil:
				lines[i], failed[i] = "cannot be used: "+err.Error(), true
			case found == "":
				lines[i] = "ok"
			default:
				lines[i] = "ok: " + found
			}
		})
	}
	all.Wait()
	faults := 0
	for i, p := range peers {
		fmt.Fprintf(out, "%s: %s\n", p.Setting, redact.URLs(p.Where+": "+lines[i]))
		if failed[i] {
			faults++
		}
	}
	if faults > 0 {
		return fmt.Errorf("%d of %d servers cannot be used", faults, len(peers))
	}
	return nil
}
