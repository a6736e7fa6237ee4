package stored

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/ddds"
)

// A purge leaves no answer that a concurrent request has made from records that were not purged yet.
func TestPurgeDuringRequests(t *testing.T) {
	recordStore, err := memory.New(memory.Config[ddds.Records]{MaxBytes: 1 << 20, Size: ddds.RecordsSize})
	if err != nil {
		t.Fatal(err)
	}
	answerStore, err := memory.New(memory.Config[resolver.Locations]{
		MaxBytes: 64 << 20, Size: resolver.LocationsSize,
		GroupOf: resolver.NameOfKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	records := cache.New(cache.Config[ddds.Records]{Store: recordStore, Now: time.Now})
	answers := cache.New(cache.Config[resolver.Locations]{Store: answerStore, Now: time.Now})
	t.Cleanup(func() { answers.Close(); records.Close(); answerStore.Close(); recordStore.Close() })
	c := Answers{
		Answers:         resolver.AnswerCache{Cache: answers, Entries: answerStore, Variants: answerStore.Keys},
		PurgeRecords:    func(has func(key string) bool) { records.PurgeAll(recordStore, has, false) },
		PurgeDiscovered: func() {}, StopSaving: func() {}, RemoveSnapshot: func() error { return nil },
	}

	var source, requests atomic.Int64
	request := func() string {
		defer requests.Add(1)
		result, err := answers.Get(t.Context(), "urn:example:requested",
			func(ctx context.Context) (resolver.Locations, time.Duration, error) {
				_, err := records.Get(ctx, "record", func(context.Context) (ddds.Records, time.Duration, error) {
					// a negative entry
					return ddds.Records{}, time.Hour, errors.New(strconv.FormatInt(source.Load(), 10))
				})
				return resolver.Locations{{URI: err.Error(), From: &resolver.Source{}}}, time.Hour, nil
			})
		if err != nil {
			t.Error(err)
			return ""
		}
		return result.Value[0].URI
	}
	for round := range 5 {
		source.Store(int64(round))
		for i := range 5000 { // so that the purge takes some time
			answers.Seed("urn:example:"+strconv.Itoa(i),
				resolver.Locations{{URI: "x", From: &resolver.Source{}}}, time.Hour)
		}
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
					request()
				}
			}
		}()
		before := requests.Load()
		testserver.Wait(t, "requests are running", func() bool { return requests.Load() > before+100 })
		source.Store(int64(round) + 1)
		if _, err := c.Purge(t.Context(), resolver.Selection{All: true}, false); err != nil {
			t.Fatal(err)
		}
		close(stop)
		<-stopped
		if got := request(); got != strconv.Itoa(round+1) {
			t.Fatalf("after the purge of round %d the answer is made of the records of %s", round, got)
		}
	}
}
