package jobs_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// No instance that searches for aborted uploads removes an upload in progress.
func TestAcceptWhileSearching(t *testing.T) {
	dir := t.TempDir()
	store := openStore(t, dir)
	var accepting sync.WaitGroup
	for range 3 {
		j, _ := newJobs(store, dir, io.Discard)
		running(t, j)
		for range 2 {
			accepting.Go(func() {
				for range 15 {
					if _, _, err := j.Accept(t.Context(), root,
						jobs.Upload{Format: bulk.NDJSON, Body: strings.NewReader(lines(1))}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	accepting.Wait()
}
