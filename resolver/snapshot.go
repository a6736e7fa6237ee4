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

// A snapshot of answers is text: a header with the format and the configuration that the answers depend on, a
// line of JSON for each answer, and a line with the SHA-256 of all lines before it. The format number also
// changes when new rules change the targets of names, because restored answers of an older version remain in
// use until they expire.
const snapshotFormat = "urnd answers 1 "

// maxSnapshotLine limits the length of a line of a snapshot, in bytes.
const maxSnapshotLine = 1 << 20

var (
	// ErrSnapshotDamaged means that a snapshot is incomplete or was changed.
	ErrSnapshotDamaged = errors.New("damaged")
	// ErrSnapshotMismatch means that a snapshot is of another configuration or version.
	ErrSnapshotMismatch = errors.New("written by another configuration or version")
)

type savedAnswer struct {
	Key       string          `json:"key"`
	Expires   int64           `json:"expires"` // Unix time
	TTL       int64           `json:"ttl"`     // remaining seconds when it was saved, rounded up
	Locations []savedLocation `json:"locations"`
}

// at returns when the answer was saved. A time in the future means that the system clock was set back since, so
// that the age of the answer is unknown.
func (s savedAnswer) at() time.Time { return time.Unix(s.Expires-s.TTL, 0) }

type savedLocation struct {
	URI       string `json:"uri"`
	Source    string `json:"source"`
	Type      string `json:"type,omitempty"`
	Language  string `json:"language,omitempty"`
	Authentic bool   `json:"authentic,omitempty"`
	Content   string `json:"content,omitempty"`

	Rel     string      `json:"rel,omitempty"`
	Title   string      `json:"title,omitempty"`
	Context string      `json:"context,omitempty"`
	Others  []savedLink `json:"others,omitempty"` // of its Relation
}

// savedLink is the encoding of a Link.
type savedLink struct {
	Anchor   string `json:"anchor,omitempty"`
	URI      string `json:"uri"`
	Rel      string `json:"rel,omitempty"`
	Title    string `json:"title,omitempty"`
	Type     string `json:"type,omitempty"`
	Language string `json:"language,omitempty"`
	Context  string `json:"context,omitempty"`
}

// Save writes as many fresh answers as fit into limit bytes, and returns their number. basis identifies the
// configuration that they depend on; it contains no spaces.
func (a AnswerCache) Save(w io.Writer, basis string, now time.Time, limit int64) (int, error) {
	sum := sha256.New()
	out := bufio.NewWriter(io.MultiWriter(w, sum))
	written, _ := fmt.Fprintf(out, "%s%s\n", snapshotFormat, basis) // out retains the error
	room := limit - int64(written) - 2*sha256.Size - 1
	n := 0
	var failed error
	a.Entries.Each(func(e *cache.Entry[Locations]) bool {
		ttl := a.TTL(e)
		// Answers of the registry are not saved: it is queried again.
		if e.Err() != nil || ttl <= 0 || len(e.Value) > 0 && e.Value[0].From.Record != nil {
			return true
		}
		line, err := json.Marshal(save(e, ttl, now))
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

func save(e *cache.Entry[Locations], ttl time.Duration, now time.Time) savedAnswer {
	saved := savedAnswer{Key: e.Key, Expires: now.Add(ttl).Unix(), TTL: int64((ttl + time.Second - 1) / time.Second)}
	for _, l := range e.Value {
		saved.Locations = append(saved.Locations, saveLocation(l))
	}
	return saved
}

func saveLocation(l Location) savedLocation {
	s := savedLocation{
		URI: l.URI, Source: l.From.Name, Type: l.From.Type, Language: l.From.Language, Authentic: l.From.Authentic,
		Content: l.From.Content,
	}
	if r := l.From.Relation; r != nil {
		s.Rel, s.Title, s.Context = r.Rel, r.Title, r.Context
		for _, other := range r.OtherLinks {
			s.Others = append(s.Others, savedLink(other))
		}
	}
	return s
}

// Restore adds the answers of a snapshot that are still fresh to the cache, and returns their number; it stops
// when ctx ends. The snapshot must have the basis given to Save. Names for which owned returns true are
// skipped: another process may have changed them since. With ErrSnapshotDamaged or ErrSnapshotMismatch, nothing
// is restored.
func (a AnswerCache) Restore(
	ctx context.Context, r io.ReadSeeker, basis string, now time.Time,
	owned func(ctx context.Context, name string) bool,
) (int, error) {
	if err := checkSnapshot(r, basis); err != nil {
		return 0, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("restoring answers: %w", err)
	}
	lines := scanLines(r)
	lines.Scan() // the header, already checked
	sources := make(savedSources)
	n := 0
	for ctx.Err() == nil && lines.Scan() {
		var saved savedAnswer
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) || json.Unmarshal(lines.Bytes(), &saved) != nil {
			continue // the checksum
		}
		ttl := time.Unix(saved.Expires, 0).Sub(now)
		if ttl <= 0 || now.Before(saved.at()) || len(saved.Locations) == 0 {
			continue
		}
		a.Seed(saved.Key, saved.locations(sources), ttl)
		n++
		name := saved.Key
		if whole := NameOfKey(name); whole != "" {
			name = whole
		}
		if owned(ctx, name) { // after Seed, so that a change in between is not missed
			a.Cache.Purge(saved.Key, false)
			n--
		}
	}
	return n, nil
}

// maxSources limits the number of shared sources.
const maxSources = 10_000

// savedSources are the sources of restored locations, by their saved fields other than Others.
type savedSources map[sourceKey]*Source

// sourceKey has the fields of a Source that locations share, as a comparable value.
type sourceKey struct {
	name, kind, language, content string
	authentic                     bool
	rel, title, context           string
}

// of returns the source of a saved location. Equal sources are shared, except those with links of one name.
func (known savedSources) of(l savedLocation) *Source {
	key := sourceKey{l.Source, l.Type, l.Language, l.Content, l.Authentic, l.Rel, l.Title, l.Context}
	if shared := known[key]; shared != nil && len(l.Others) == 0 {
		return shared
	}
	source := &Source{
		Name: l.Source, Type: l.Type, Language: l.Language, Authentic: l.Authentic,
		Content: strings.Clone(l.Content),
	}
	if l.Rel != "" || l.Title != "" || l.Context != "" || len(l.Others) > 0 {
		source.Relation = &Relation{Rel: l.Rel, Title: l.Title, Context: l.Context}
	}
	for _, other := range l.Others {
		source.Relation.OtherLinks = append(source.Relation.OtherLinks, Link(other))
	}
	if len(l.Others) == 0 && len(known) < maxSources {
		known[key] = source
	}
	return source
}

// locations returns the locations of a saved answer; equal sources are shared.
func (s savedAnswer) locations(sources savedSources) Locations {
	locations := make(Locations, len(s.Locations))
	for i, l := range s.Locations {
		locations[i] = Location{URI: strings.Clone(l.URI), From: sources.of(l)}
	}
	return locations
}

// checkSnapshot verifies the header and the checksum of a snapshot.
func checkSnapshot(r io.Reader, basis string) error {
	sum := sha256.New()
	lines := scanLines(r)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), snapshotFormat) {
		return fmt.Errorf("%w: does not begin with %q", ErrSnapshotMismatch, snapshotFormat)
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
		return fmt.Errorf("%w: wrong checksum", ErrSnapshotDamaged)
	case strings.TrimPrefix(header, snapshotFormat) != basis:
		return ErrSnapshotMismatch
	}
	return nil
}

func scanLines(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxSnapshotLine+1)
	return lines
}
