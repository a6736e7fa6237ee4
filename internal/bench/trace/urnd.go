package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/cache/memory"
	"github.com/urnd/urnd/internal/httpmessage"
)

// usual is the memory of a typical response, from which the daemon derives the sizes of the tables of its store
// (cmd/urnd).
const usual = 4 << 10

// replayUrnd returns the ratios of urnd's memory cache of HTTP responses with a budget in bytes, with the
// configuration of the daemon and the memory that it counts for a response in addition to its body.
func (t *trace) replayUrnd(ctx context.Context, budget int64) (ratios, error) {
	store, err := memory.New(memory.Config[*httpcache.Entry]{
		MaxBytes: budget, TypicalSize: usual,
		Size: (*httpcache.Entry).Size,
	})
	if err != nil {
		return ratios{}, err
	}
	defer store.Close()
	c := httpcache.New(httpcache.Config{
		Store: store, Now: time.Now, MaxObject: budget / 16, MaxArriving: budget / 4,
		SameOrigin: func(string, string) (string, bool) { return "", false },
	})
	defer c.Close()
	var counted tally
	zeros := make([]byte, maxSize(t.sizes))
	fields := httpmessage.NewFields("Accept", "*/*", "User-Agent", "x")
	for at, object := range t.objects {
		size := t.sizes[object]
		key := "http://origin.example/" + strconv.Itoa(int(object))
		r, hit := c.Find(key, "", fields.Values, time.Now())
		if hit {
			r.CountHit()
		} else if err := fetch(ctx, c, key, fields, zeros[:size]); err != nil {
			return ratios{}, err
		}
		if t.isCounted(at) {
			counted.add(size, hit)
		}
	}
	return counted.ratios(), nil
}

// fetch requests a response that the cache does not contain, and reads it.
func fetch(ctx context.Context, c *httpcache.Cache, key string, fields httpmessage.Fields, content []byte) error {
	request := &httpcache.Request{Request: httpmessage.Request{Method: http.MethodGet, Fields: fields}, Key: key}
	a, err := c.Serve(ctx, request,
		httpcache.OriginFunc(func(context.Context, httpcache.Outgoing) (*httpmessage.Response, error) {
			return &httpmessage.Response{
				Status: http.StatusOK, Body: io.NopCloser(&reader{content}), ContentLength: int64(len(content)),
				Fields: httpmessage.NewFields("Date", time.Now().UTC().Format(http.TimeFormat), "Server", "origin",
					"Content-Type", "text/html",
					"Last-Modified", "Sat, 21 Nov 2026 08:00:00 GMT", "Etag", `"0123456789abcdef"`, "Cache-Control",
					"max-age=86400"),
			}, nil
		}))
	if err != nil {
		return err
	}
	if a.Content == nil {
		return nil
	}
	defer a.Content.Close()
	return a.Content.SendTo(io.Discard, nil)
}

// reader reads content.
type reader struct{ left []byte }

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if len(r.left) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// maxSize returns the maximum of sizes.
func maxSize(sizes []int64) int64 {
	most := int64(0)
	for _, size := range sizes {
		most = max(most, size)
	}
	return most
}
