//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"
)

// maxProfile limits the size of a profile, which is stored in the repository.
const maxProfile = 500 * kibibyte

// profiled returns the rows for a profile of urnd: the HTTP requests that mostly execute its own code.
func profiled(part string) []row {
	return slices.DeleteFunc(rows(part), func(r row) bool {
		return r.tunnel() || r.ftp() || r.form == registered || r.link != plain || r.manner != persistent ||
			r.with != none || r.isEvent() || r.size > 64*kibibyte
	})
}

// writeProfile writes a CPU profile of urnd for profile-guided optimization. It continues while the rows are
// loaded sequentially, each for the same time.
func writeProfile(ctx context.Context, s settings, ends *network, progress io.Writer) (err error) {
	load := profiled(s.rows)
	if len(load) == 0 {
		return fmt.Errorf("BENCH_ROWS: no row with %q can be profiled", s.rows)
	}
	v, err := startPeer(ctx, ends, urnd("urnd", s.urnd), 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.stop()) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var profile []byte
	var failed error
	var running sync.WaitGroup
	running.Go(func() { profile, failed = fetchProfile(ctx, v.at.Admin, time.Duration(len(load))*s.measure) })
	for _, r := range load {
		if err = loadRow(ctx, s, ends, v, r, progress); err != nil {
			cancel()
			break
		}
	}
	running.Wait()
	if err := errors.Join(err, failed); err != nil {
		return fmt.Errorf("profile of urnd: %w", err)
	}
	fmt.Fprintf(progress, "%s: %d bytes\n", s.profile, len(profile))
	return os.WriteFile(s.profile, profile, 0o644) //nolint:gosec // a file of the repository
}

func loadRow(ctx context.Context, s settings, ends *network, v *server, r row, progress io.Writer) error {
	l, err := loadOf(ctx, s, ends, v, r)
	if err != nil {
		return fmt.Errorf("%s: %w", r.title, err)
	}
	defer l.close()
	t, _, err := l.run(ctx, s.measure, s.connections)
	if err = errors.Join(err, t.first); err != nil {
		return fmt.Errorf("%s: %w", r.title, err)
	}
	fmt.Fprintf(progress, "%s: %d requests\n", r.title, t.replies)
	return nil
}

// fetchProfile requests a CPU profile of this duration from an admin interface.
func fetchProfile(ctx context.Context, admin string, d time.Duration) ([]byte, error) {
	target := fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", admin, int(d.Seconds()))
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, errors.New(res.Status)
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxProfile+1))
	if err == nil && len(text) > maxProfile {
		err = fmt.Errorf("it has more than %d bytes", maxProfile)
	}
	return text, err
}
