//go:build e2e

package registry

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// before contains the responses of urnd 1.0.0: see testdata/README.md.
type before struct {
	Secrets     map[string]string
	Idempotency struct{ Key, Token, Path, Type, Body, Job string }
	Names       beforeEntries
	Prefixes    beforeEntries
	Changes     []any
	ChangesOf   map[string]string `json:"changes_of"`
	Search      map[string]int
	GetAt       map[string]map[string]any `json:"get_at"`
	Stats       map[string]any
	Health      string
	Counts      map[string]any
	Tokens      []any
	NextMinted  map[string][]string       `json:"next_minted"`
	TokenWorks  map[string]map[string]int `json:"token_works"`
	Jobs        json.RawMessage
	Statistics  map[string]any `json:"api_statistics"`
	Versions    []any          `json:"api_versions"`
	HTTP        []struct {
		Path           string
		AcceptDatetime string `json:"accept_datetime"`
		Status         int
		Location, Vary string
		Memento        string `json:"memento-datetime"`
		Link, Body     string
	}
}

type beforeEntries struct {
	Total   int `json:"search_total"`
	Get     []map[string]any
	History map[string][]any
}

// moved is a store restored from a portable backup, with its configuration.
type moved struct {
	before
	recent *strings.Replacer // of the times of jobs
	config config.Config
	file   string
}

// TestUpgrade checks that a portable backup of urnd 1.0.0 yields the same responses, counts, tokens and next names,
// as does a backup of the result, in either database.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	recent := strings.NewReplacer("2025-11-10T12:00:", time.Now().UTC().AddDate(0, 0, -1).Format("2006-01-02T15:04:"))
	backup, again := recentJobs(t, "testdata/v1.ndjson.zst", recent), filepath.Join(t.TempDir(), "again.ndjson.zst")
	t.Run("sqlite", func(t *testing.T) {
		m := restored(t, backup, recent, "sqlite:"+filepath.Join(t.TempDir(), "registry.db"))
		m.run(t, "verify", "testdata/v1.ndjson.zst")
		m.run(t, "backup", "--portable", again)
		m.compareByCommands(t)
		m.compare(t)
	})
	t.Run("postgres", func(t *testing.T) {
		server := testserver.StartPostgres(t)
		server.Query("", "CREATE DATABASE again")
		restored(t, backup, recent, server.URL("")).compare(t)
		restored(t, again, recent, server.URL("again")).compare(t)
	})
}

// recentJobs returns a copy of a backup whose jobs, which are kept for 30 days, are recent.
func recentJobs(t *testing.T, file string, recent *strings.Replacer) string {
	t.Helper()
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll([]byte(urndtest.ReadFile(t, file)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, `{"table":"job"`) {
			line = recent.Replace(line)
		}
		b.WriteString(line)
	}
	path := filepath.Join(t.TempDir(), "recent.ndjson")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// restored restores a portable backup to a store.
func restored(t *testing.T, backup string, recent *strings.Replacer, store string) *moved {
	t.Helper()
	m := &moved{recent: recent, config: urndtest.Default("127.0.0.1:1"), file: filepath.Join(t.TempDir(), "urnd.yaml")}
	if err := json.Unmarshal([]byte(urndtest.ReadFile(t, "testdata/v1.json")), &m.before); err != nil {
		t.Fatal(err)
	}
	c := &m.config
	c.DDDS.Enabled = false
	c.Registry.Store, c.Registry.Hosts = store, []string{"purl.example"}
	c.Registry.Owned = []string{"urn:", "ark:/12345/", "hdl:20.500.9/", "https://purl.example/"}
	c.Cache.Directory = t.TempDir()
	text := fmt.Sprintf("registry: {store: '%s', hosts: [purl.example], owned: ['%s']}\nddds: {enabled: false}\n", store,
		strings.Join(c.Registry.Owned, "', '"))
	if err := os.WriteFile(m.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	m.run(t, "restore", backup)
	m.run(t, "verify")
	return m
}

// run runs a registry command, which may fail if it finds nothing.
func (m *moved) run(t *testing.T, args ...string) string {
	t.Helper()
	args = slices.Insert(args, 1, "--config", m.file)
	r := urndtest.RunWith(t, nil, "", append([]string{"registry"}, args...)...)
	if r.Status > 1 || r.Status == 1 && (r.Out == "" || args[0] == "restore" || args[0] == "verify") &&
		args[0] != "get" {
		t.Fatalf("%q: %+v", args, r)
	}
	return r.Out
}

// lines runs a command that prints JSON lines.
func (m *moved) lines(t *testing.T, args ...string) (all []any) {
	t.Helper()
	for line := range strings.Lines(m.run(t, args...)) {
		all = append(all, parsed(t, line))
	}
	return all
}

func parsed(t *testing.T, text string) (value any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return value
}

// same compares JSON values.
func same(t *testing.T, what string, is, was any) {
	t.Helper()
	if !reflect.DeepEqual(is, was) {
		i, _ := json.Marshal(is)
		w, _ := json.Marshal(was)
		t.Errorf("%s is\n%s\nwas\n%s", what, i, w)
	}
}

// compare compares the HTTP responses and the names that are minted next.
func (m *moved) compare(t *testing.T) {
	t.Helper()
	m.compareByHTTP(t)
	for pattern, was := range m.NextMinted {
		if !strings.HasPrefix(pattern, "noid:ark:/12345/fk.r") { // r is random
			same(t, "the next names of "+pattern, strings.Fields(m.run(t, "mint", "-n", "3", pattern)), was)
		}
	}
}

// compareByCommands compares the output of commands, which start slowly with the race detector: one database is
// enough.
func (m *moved) compareByCommands(t *testing.T) {
	t.Helper()
	same(t, "changes", m.lines(t, "changes", "--output=json"), m.Changes)
	for set, was := range m.ChangesOf {
		same(t, "the change set "+set, m.run(t, "changes", "--set", set), was)
	}
	for flags, was := range m.Search {
		same(t, "search "+flags,
			len(m.lines(t, append([]string{"search", "--limit", "0", "--output=json"}, strings.Fields(flags)...)...)),
			was)
	}
	same(t, "the number of names", len(m.lines(t, "search", "--limit", "0", "--output=json")), m.Names.Total)
	same(t, "the number of prefixes", len(m.lines(t, "search", "--limit", "0", "--output=json", "--prefix")),
		m.Prefixes.Total)
	stats, _ := parsed(t, m.run(t, "stats", "--output=json")).(map[string]any)
	maps.DeleteFunc(stats, func(of string, _ any) bool { return m.Stats[of] == nil }) // type and size of the store
	same(t, "stats", any(stats), any(m.Stats))
	same(t, "health", m.run(t, "health"), m.Health)
	for flags, was := range m.Counts {
		same(t, "counts "+flags,
			parsed(t, m.run(t, append([]string{"stats", "--output=json"}, strings.Fields(flags)...)...)), was)
	}
	same(t, "tokens", m.lines(t, "token", "list", "--output=json"), m.Tokens)
}

// getter requests a document from the API.
type getter func(path string) any

// compareEntries compares names or prefixes and their histories.
func compareEntries(t *testing.T, get getter, kind string, was *beforeEntries) {
	t.Helper()
	for _, e := range was.Get {
		name, _ := e["name"].(string)
		same(t, name, get(kind+"?uri="+url.QueryEscape(name)), any(e))
	}
	for name, versions := range was.History {
		history, _ := get(kind + "/history?uri=" + url.QueryEscape(name)).(map[string]any)
		same(t, "the history of "+name, history["versions"], any(versions))
	}
}

// compareTimes compares names as of several times.
func (m *moved) compareTimes(t *testing.T, get getter) {
	t.Helper()
	for at, names := range m.GetAt {
		for name, was := range names {
			is := get("names?uri=" + url.QueryEscape(name) + "&at=" + at)
			if p, _ := is.(map[string]any); was == nil && p["status"] == float64(http.StatusNotFound) {
				continue
			}
			same(t, name+" at "+at, is, was)
		}
	}
}

// compareByHTTP compares the responses of the service and the API.
func (m *moved) compareByHTTP(t *testing.T) {
	t.Helper()
	d := urndtest.StartConfig(t, m.config)
	defer d.Stop()
	for _, was := range m.HTTP {
		var fields []string
		if was.AcceptDatetime != "" {
			fields = append(fields, "Accept-Datetime: "+was.AcceptDatetime)
		}
		got := d.Get(t, was.Path, fields...)
		is := was
		is.Status, is.Location, is.Vary = got.Status, strings.ReplaceAll(got.Location, d.URL, "BASE"),
			strings.Join(got.Header["Vary"], ", ")
		is.Memento = got.Header.Get("Memento-Datetime")
		if was.Link != "" {
			is.Link = strings.ReplaceAll(strings.Join(got.Header["Link"], ", "), d.URL, "BASE")
		}
		if was.Body != "" {
			is.Body = strings.ReplaceAll(got.Body, d.URL, "BASE")
		}
		if is != was {
			t.Errorf("%s at %q is\n%+v\nwas\n%+v", was.Path, was.AcceptDatetime, is, was)
		}
	}
	chief := "Authorization: Bearer " + m.Secrets["chief"]
	get := func(path string) any {
		t.Helper()
		_, text := d.AdminRequest(t, "GET /api/v1/"+path, chief)
		return parsed(t, text)
	}
	compareEntries(t, get, "names", &m.Names)
	compareEntries(t, get, "prefixes", &m.Prefixes)
	m.compareTimes(t, get)
	same(t, "jobs", get("jobs"), parsed(t, m.recent.Replace(string(m.Jobs))))
	for query, was := range m.Statistics {
		same(t, "statistics of "+query, get("statistics?"+query), was)
	}
	m.compareEvents(t, get)
	m.compareTokens(t, d)
}

// compareEvents compares the events for a replica.
func (m *moved) compareEvents(t *testing.T, get getter) {
	t.Helper()
	var events []any
	for path := "registry/versions"; path != ""; {
		page, _ := get(path).(map[string]any)
		found, _ := page["events"].([]any)
		events = append(events, found...)
		next, _ := page["next"].(string)
		if path = "registry/versions?cursor=" + next; len(found) == 0 || next == "" {
			path = ""
		}
	}
	same(t, "the number of versions", len(events), len(m.Versions))
	for i := range min(len(events), len(m.Versions)) {
		same(t, fmt.Sprintf("event %d", i), events[i], m.Versions[i])
	}
}

// compareTokens compares the authorization of each token, and checks that the idempotency key of a request is
// known.
func (m *moved) compareTokens(t *testing.T, d *urndtest.Daemon) {
	t.Helper()
	for name, requests := range m.TokenWorks {
		for request, was := range requests {
			method, path, _ := strings.Cut(request, " ")
			fields := []string{"Authorization: Bearer " + m.Secrets[name], "Content-Type: application/json"}
			body := ""
			if method == "PUT" {
				body = `{"targets": [{"uri": "https://token.example/"}]}`
				fields = append(fields, "If-None-Match: *")
			}
			if got := urndtest.Send(t, method+" "+d.Admin+"/api/v1/"+path, body, fields...); got.Status != was {
				t.Errorf("%s by %s: %d, was %d: %s", request, name, got.Status, was, got.Body)
			}
		}
	}
	key := &m.Idempotency
	got := urndtest.Send(t, "POST "+d.Admin+"/api/v1/"+key.Path, key.Body,
		"Authorization: Bearer "+m.Secrets[key.Token], "Content-Type: "+key.Type, "Idempotency-Key: "+key.Key)
	if job, _ := parsed(t, got.Body).(map[string]any); job["id"] != key.Job {
		t.Errorf("the request that was sent before is answered by %s, was the job %s", got.Body, key.Job)
	}
}
