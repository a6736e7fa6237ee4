package jobs_test

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/jobs"
)

// A body that is being received is not taken for one that was broken off, by no instance that looks for those meanwhile.
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
					if _, _, err := j.Accept(t.Context(), root, jobs.Upload{Format: bulk.NDJSON, Body: strings.NewReader(lines(1))}); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	accepting.Wait()
}
