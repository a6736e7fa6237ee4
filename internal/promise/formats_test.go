package promise

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// output is a command or a request to the daemon that produces documents.
type output struct {
	format string // csv, tsv, or json for one or several documents
	line   string // arguments separated by spaces
	file   string // file that it writes, "" for standard output
}

// outputs returns the commands with machine-readable output. DIR is the directory of the daemon, and ADMIN its
// admin interface.
func outputs() []output {
	return []output{
		{"json", "status --output json ADMIN", ""},
		{"json", "cache stats --output json --admin ADMIN", ""},
		{"json", "cache show --output json --admin ADMIN urn:promise:a1", ""},
		{"json", "cache show --output json --admin ADMIN ORIGIN/c", ""},
		{"json", "cache purge --output json --admin ADMIN urn:promise:a1", ""},
		{"json", "registry import --output json --dry-run DIR/names.csv", ""},
		{"json", "registry import --dry-run --overwrite --output json DIR/changed.csv", ""},
		{"csv", "registry import --dry-run --overwrite --output csv DIR/changed.csv", ""},
		{"csv", "registry import --rejected DIR/rejected.csv DIR/bad.csv", "rejected.csv"},
		{"csv", "registry export --force DIR/export.csv", "export.csv"},
		{"csv", "registry export --force --history DIR/export.csv", "export.csv"},
		{"tsv", "registry export --force DIR/export.tsv", "export.tsv"},
		{"json", "registry export --force DIR/export.ndjson", "export.ndjson"},
		{"json", "registry export --force --history DIR/export.ndjson", "export.ndjson"},
		{"csv", "registry diff sqlite:DIR/registry.db DIR/changed.csv --output csv", ""},
		{"json", "registry diff sqlite:DIR/registry.db DIR/changed.csv --output json", ""},
		{
			"json",
			"registry rewrite urn:promise: --dry-run --output json --replace https://promise.example/ --with " +
				"https://b.example/", "",
		},
		{"json", "registry get --output json urn:promise:a1", ""},
		{"json", "registry get --output json urn:promise:a3", ""},
		{"json", "registry get --output json --prefix urn:promise:", ""},
		{"json", "registry history --output json urn:promise:e1", ""},
		{"json", "registry search --output json", ""},
		{"json", "registry changes --output json", ""},
		{"json", "registry check --output json --hints", ""},
		{"json", "registry health --output json --all", ""},
		{"json", "registry stats --output json", ""},
		{"json", "registry stats --output json urn:promise:a1", ""},
		{"json", "registry stats --output json --top 2", ""},
		{"json", "registry token list --output json", ""},
		{"json", "namespaces --output json", ""},
		{"json", "resolve --output json urn:promise:a1", ""},
		{"json", "resolve --output json --trace urn:promise:a1", ""},
		{"json", "access test --output json 127.0.0.1 GET http://denied.example/", ""},
		{"json", "access test --output json 127.0.0.1 GET http://promise.example/", ""},
		{"json", "uri parse --output json urn:example:a-1?+r?=q#f", ""},
		{"json", "uri parse --output json http://u@promise.example:80/a?b#c", ""},
		{"json", "uri normalize --output json urn:EXAMPLE:a %", ""},
		{"json", "uri compare --output json urn:example:a URN:example:a", ""},
		{"json", "uri join --output json http://promise.example/a b", ""},
		{"json", "uri key --output json urn:example:a", ""},
		{"json", "uri display --output json http://promise.example/%C3%A4", ""},
		{"json", "uri encode --output json http://promise.example/ä", ""},
		{"json", "uri extract --output json DIR/text.txt", ""},
	}
}

// gatherFormats returns the columns of tables in order, and the members of JSON documents with their types, for
// the output of commands and for responses that no OpenAPI document describes.
func gatherFormats(t *testing.T, p *program) (lines []string) {
	write(t, filepath.Join(p.daemon.directory, "bad.csv"), "name,target\nurn:promise:bad,ftp:/broken\n")
	write(t, filepath.Join(p.daemon.directory, "changed.csv"), "name,target,note\n"+
		"urn:promise:a2,https://promise.example/new,note\nurn:promise:a1,https://promise.example/new,\n")
	write(t, filepath.Join(p.daemon.directory, "text.txt"), "see http://promise.example/\n")
	fill := strings.NewReplacer("DIR", p.daemon.directory, "ADMIN", p.daemon.admin, "ORIGIN", p.origin.url)
	environment := []string{"URND_CONFIG=" + filepath.Join(p.daemon.directory, "urnd.yaml")}
	for _, o := range outputs() {
		if !strings.Contains(o.line, "ADMIN") {
			p.daemon.stop() // it writes its counters when it stops
		}
		r := p.run(t, environment, strings.Fields(fill.Replace(o.line))...)
		text := r.stdout
		if r.status == 2 {
			t.Errorf("urnd %s: %s", o.line, r.stderr)
			continue
		}
		if o.file != "" {
			text = read(t, p.daemon.directory, o.file)
		}
		lines = append(lines, describeOutput(t, "urnd "+o.line, o.format, text)...)
	}
	return append(lines, p.responseFormats(t)...)
}

// responseFormats returns the columns and members of responses that no OpenAPI document describes. Equal
// responses to several requests are listed for the first request.
func (p *program) responseFormats(t *testing.T) (lines []string) {
	t.Helper()
	seen := make(map[string]bool)
	for _, r := range p.requests {
		mediaType, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
		format := "json"
		switch mediaType {
		case "text/csv":
			format = "csv"
		case "application/x-ndjson", "application/ld+json", "application/linkset+json",
			"application/vnd.citationstyles.csl+json":
		case "application/json":
			if r.status != http.StatusOK ||
				!strings.Contains(r.target, "/N2C") && !strings.Contains(r.target, "/.well-known/") {
				continue
			}
		default:
			continue
		}
		found := describeOutput(t, "", format, r.response)
		if key := strings.Join(found, "\n"); !seen[key] {
			seen[key] = true
			for _, line := range found {
				lines = append(lines, r.at+" "+r.method+" "+r.target+line)
			}
		}
	}
	return lines
}

// describeOutput returns the lines of one output.
func describeOutput(t *testing.T, name, format, text string) (lines []string) {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		t.Errorf("%s has written nothing", name)
		return nil
	}
	if format != "json" {
		header, _, _ := strings.Cut(text, "\n")
		return []string{fmt.Sprintf("%s: %s", name, strings.ReplaceAll(strings.TrimSpace(header), "\t", " TAB "))}
	}
	documents := json.NewDecoder(strings.NewReader(text))
	for {
		var document any
		if err := documents.Decode(&document); err == io.EOF {
			return lines
		} else if err != nil {
			t.Errorf("%s: %v in %.200s", name, err, text)
			return lines
		}
		for _, member := range members("", document) {
			lines = append(lines, name+": "+member)
		}
	}
}

// members returns the members of a document with their types. Names that are data, such as addresses, are
// replaced by "*".
func members(path string, value any) (all []string) {
	data := regexp.MustCompile(`^$|[^A-Za-z_@$:-]`)
	switch v := value.(type) {
	case object:
		for name, member := range v {
			if data.MatchString(name) {
				name = "*"
			}
			all = append(all, members(strings.TrimPrefix(path+"."+name, "."), member)...)
		}
		if len(v) == 0 {
			all = append(all, path+" object")
		}
	case []any:
		for _, element := range v {
			all = append(all, members(path+"[]", element)...)
		}
		if len(v) == 0 {
			all = append(all, path+" array")
		}
	case string:
		all = append(all, path+" string")
	case bool:
		all = append(all, path+" boolean")
	case float64:
		all = append(all, path+" number")
	case nil:
		all = append(all, path+" null")
	}
	slices.Sort(all)
	return slices.Compact(all)
}
