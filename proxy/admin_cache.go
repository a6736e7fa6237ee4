package proxy

import (
	"errors"
	"net/http"
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
	s, err := selectionOf(r)
	n := 0
	if err == nil {
		n, err = a.config.Caches.Purge(s, r.URL.Query().Get("soft") == "true")
	}
	if err != nil {
		writeProblem(w, r, err, r.URL.Query().Get("uri"), nil)
		return
	}
	sendJSON(w, r, http.StatusOK, map[string]int{"purged": n})
}

// selectionOf reads what is to be purged.
func selectionOf(r *http.Request) (Selection, error) {
	q := r.URL.Query()
	var s Selection
	var err error
	set := 0
	for _, name := range []string{"uri", "namespace", "prefix", "all"} {
		value := q.Get(name)
		if value == "" {
			continue
		}
		set++
		switch name {
		case "uri":
			s.URI, err = uri.Parse(value)
		case "namespace":
			s.Namespace, err = strings.ToLower(value), uri.CheckNID(value)
		case "prefix":
			s.Prefix = value
		case "all":
			s.All = value == "true"
		}
	}
	if err == nil && set != 1 {
		err = errSelection
	}
	return s, err
}
