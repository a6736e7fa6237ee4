package resolver

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urnd/urnd/cache"
)

// A snapshot of answers is text: a line that names the format and what the answers depend
// on, a line of JSON for each of them, and a line with the SHA-256 of all before it.
const snapshotFormat = "urnd answers 1 "

// maxSnapshotLine bounds a line of a snapshot.
const maxSnapshotLine = 1 << 20

var (
	// ErrSnapshotDamaged is that a snapshot is not as it was written.
	ErrSnapshotDamaged = errors.New("damaged")
	// ErrSnapshotForeign is that a snapshot is of another configuration or version.
	ErrSnapshotForeign = errors.New("of another configuration or version")
)

type savedAnswer struct {
	Key       string          `json:"key"`
	Expires   int64           `json:"expires"` // Unix time
	TTL       int64           `json:"ttl"`     // seconds, when it was saved: the clock may go back
	Locations []savedLocation `json:"locations"`
}

type savedLocation struct {
	URI       string `json:"uri"`
	Source    string `json:"source"`
	Type      string `json:"type,omitempty"`
	Language  string `json:"language,omitempty"`
	Authentic bool   `json:"authentic,omitempty"`
}

// Save writes the answers that are fresh, as many as fit into limit octets, and
// returns how many. basis names the configuration that they depend on, without spaces.
func (a Answers) Save(w io.Writer, basis string, now time.Time, limit int64) (int, error) {
	sum := sha256.New()
	out := bufio.NewWriter(io.MultiWriter(w, sum))
	written, _ := fmt.Fprintf(out, "%s%s\n", snapshotFormat, basis) // out keeps the error
	room := limit - int64(written) - 2*sha256.Size - 1
	n := 0
	var failed error
	a.Entries.Each(func(e *cache.Entry[Locations]) bool {
		if e.Err() != nil || e.TTL(now) <= 0 {
			return true
		}
		line, err := json.Marshal(save(e, now))
		if err != nil || len(line) >= maxSnapshotLine {
			return true
		}
		if room -= int64(len(line)) + 1; room < 0 {
			return false
		}
		_, failed = out.Write(append(line, '\n'))
		n++
		return failed == nil
	})
	if err := errors.Join(failed, out.Flush()); err != nil {
		return 0, fmt.Errorf("saving answers: %w", err)
	}
	if _, err := io.WriteString(w, hex.EncodeToString(sum.Sum(nil))+"\n"); err != nil {
		return 0, fmt.Errorf("saving answers: %w", err)
	}
	return n, nil
}

func save(e *cache.Entry[Locations], now time.Time) savedAnswer {
	ttl := e.TTL(now)
	saved := savedAnswer{Key: e.Key, Expires: now.Add(ttl).Unix(), TTL: int64((ttl + time.Second - 1) / time.Second)}
	for _, l := range e.Value {
		saved.Locations = append(saved.Locations, savedLocation{l.URI, l.From.Name, l.From.Type, l.From.Language, l.From.Authentic})
	}
	return saved
}

// Restore puts the answers of a snapshot that are still fresh into the cache, and returns
// how many; it stops when ctx ends. Nothing is restored of a snapshot that is damaged or
// foreign.
func (a Answers) Restore(ctx context.Context, r io.ReadSeeker, basis string, now time.Time) (int, error) {
	if err := checkSnapshot(r, basis); err != nil {
		return 0, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("restoring answers: %w", err)
	}
	lines := scanLines(r)
	lines.Scan() // the header, which was checked
	sources := make(map[Source]*Source)
	n := 0
	for ctx.Err() == nil && lines.Scan() {
		var saved savedAnswer
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) || json.Unmarshal(lines.Bytes(), &saved) != nil {
			continue // the sum
		}
		ttl := min(time.Unix(saved.Expires, 0).Sub(now), time.Duration(saved.TTL)*time.Second)
		if ttl <= 0 || len(saved.Locations) == 0 {
			continue
		}
		a.Seed(saved.Key, saved.locations(sources), ttl)
		n++
	}
	return n, nil
}

// maxSources bounds the sources that are shared.
const maxSources = 10_000

// locations returns those of a saved answer; they share their sources with others.
func (s savedAnswer) locations(sources map[Source]*Source) Locations {
	locations := make(Locations, len(s.Locations))
	for i, l := range s.Locations {
		source := Source{Name: l.Source, Type: l.Type, Language: l.Language, Authentic: l.Authentic}
		shared := sources[source]
		if shared == nil {
			shared = &source
			if len(sources) < maxSources {
				sources[source] = shared
			}
		}
		locations[i] = Location{URI: strings.Clone(l.URI), From: shared}
	}
	return locations
}

// checkSnapshot reads a snapshot once, and compares its sum.
func checkSnapshot(r io.Reader, basis string) error {
	sum := sha256.New()
	lines := scanLines(r)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), snapshotFormat) {
		return fmt.Errorf("%w: it does not begin with %q", ErrSnapshotForeign, snapshotFormat)
	}
	header := lines.Text()
	last := header
	for lines.Scan() {
		fmt.Fprintf(sum, "%s\n", last)
		last = lines.Text()
	}
	switch {
	case lines.Err() != nil:
		return fmt.Errorf("%w: %w", ErrSnapshotDamaged, lines.Err())
	case last != hex.EncodeToString(sum.Sum(nil)):
		return fmt.Errorf("%w: its sum is not that of what it holds", ErrSnapshotDamaged)
	case header != snapshotFormat+basis:
		return ErrSnapshotForeign
	}
	return nil
}

func scanLines(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSnapshotLine+1)
	return lines
}
