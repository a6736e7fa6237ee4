package proxy

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Caches are what can be seen of caches, and done about them.
type Caches interface {
	// Stats returns the counts of each cache, by name.
	Stats() any
	// Lookup returns what is remembered of a name, for all services.
	Lookup(u uri.URI) ([]Remembered, error)
	// Purge forgets what a selection matches, or makes it stale where it is soft, and
	// returns how much that was.
	Purge(s Selection, soft bool) (int, error)
}

// Remembered is an entry of the cache of answers.
type Remembered struct {
	Key       string         `json:"key"`
	TTL       int64          `json:"ttl"` // seconds; negative when stale
	Locations []locationJSON `json:"locations"`
	No        string         `json:"no,omitempty"` // why there are none
}

// NewRemembered puts an entry into words.
func NewRemembered(key string, ttl int64, locations []resolver.Location, no error) Remembered {
	r := Remembered{Key: key, TTL: ttl, Locations: []locationJSON{}}
	if no != nil {
		r.No = no.Error()
	}
	for _, l := range locations {
		r.Locations = append(r.Locations, newLocationJSON(l))
	}
	return r
}

// Selection is what is to be purged: one of its fields is set.
type Selection struct {
	URI       uri.URI // one name, and all that is remembered of it
	Namespace string  // a NID
	Prefix    string  // of canonical names
	All       bool
}

var errSelection = errors.New("one of the parameters uri, namespace, prefix and all=true says what is to be purged")

func (a *admin) serveLookup(w http.ResponseWriter, r *http.Request) {
	text := r.URL.Query().Get("uri")
	u, err := uri.Parse(text)
	var entries []Remembered
	if err == nil {
		entries, err = a.config.Caches.Lookup(u)
	}
	if err != nil {
		writeProblem(w, r, err, text, nil)
		return
	}
	sendJSON(w, r, http.StatusOK, map[string]any{"entries": notNil(entries)})
}

func (a *admin) servePurge(w http.ResponseWriter, r *http.Request) {
	s, soft, err := selectionOf(r)
	n := 0
	if err == nil {
		n, err = a.config.Caches.Purge(s, soft)
	}
	if err != nil {
		writeProblem(w, r, err, r.URL.Query().Get("uri"), nil)
		return
	}
	a.config.Log.InfoContext(r.Context(), "answers were purged", "client", r.RemoteAddr, "query", r.URL.RawQuery, "answers", n)
	sendJSON(w, r, http.StatusOK, map[string]int{"purged": n})
}

// selectionOf reads what is to be purged, and whether softly. What it does not
// understand it refuses: one parameter less would purge more.
func selectionOf(r *http.Request) (s Selection, soft bool, err error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return s, false, fmt.Errorf("%w: %w", errSelection, err)
	}
	set := 0
	for name, values := range q {
		switch {
		case len(values) > 1:
			return s, false, fmt.Errorf("%w: %q stands there twice", errSelection, name)
		case !slices.Contains([]string{"uri", "namespace", "prefix", "all", "soft"}, name):
			return s, false, fmt.Errorf("%w: there is no parameter %q", errSelection, name)
		case values[0] == "": // as a form leaves it out
			continue
		case name == "soft":
			soft, err = truth(name, values[0])
		default:
			set++
			err = s.set(name, values[0])
		}
		if err != nil {
			return s, false, err
		}
	}
	if set != 1 {
		return s, false, errSelection
	}
	return s, soft, nil
}

// set takes one parameter into the selection.
func (s *Selection) set(name, value string) (err error) {
	switch name {
	case "uri":
		s.URI, err = uri.Parse(value)
	case "namespace":
		if s.Namespace = strings.ToLower(value); uri.CheckNID(value) != nil {
			err = fmt.Errorf("%w: %q is no NID", errSelection, value)
		}
	case "prefix":
		s.Prefix = value
	case "all":
		if s.All, err = truth(name, value); err == nil && !s.All {
			err = fmt.Errorf("%w: all is true or left out", errSelection)
		}
	}
	return err
}

func truth(name, value string) (bool, error) {
	if value != "true" && value != "false" {
		return false, fmt.Errorf("%w: %s is true or false", errSelection, name)
	}
	return value == "true", nil
}
