package promise

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// isOpenLabel reports whether the values of a label are not from a fixed set.
func isOpenLabel(name string) bool {
	open := []string{"le", "quantile", "server", "version", "goversion", "revision", "hash", "host", "rcode", "log"}
	return slices.Contains(open, name)
}

// gatherMetrics reads the Prometheus metrics of the daemon after all requests: name, type and labels of each
// metric, and the values of labels from a fixed set. Metrics of the Go runtime and of the process are ignored.
// Background tasks of the daemon, such as checks of targets, may finish later, so it reads again until all
// recorded lines are present.
func gatherMetrics(t *testing.T, p *program) (lines []string) {
	for begin := time.Now(); ; {
		lines = readMetrics(p.get(t, p.daemon.admin+"/metrics"))
		isThere := func(line string) bool { return slices.Contains(lines, line) }
		if missing := slices.DeleteFunc(recorded("metrics"), isThere); len(missing) == 0 ||
			time.Since(begin) > waitLimit {
			return lines
		}
	}
}

// waitLimit limits the wait for missing lines.
const waitLimit = 10 * time.Second

func readMetrics(text string) (lines []string) {
	kinds, labels := make(map[string]string), make(map[string][]string)
	sample := regexp.MustCompile(`^(urnd_\w+?)(?:\{(.*)\})? [^ ]+$`)
	label := regexp.MustCompile(`(\w+)="((?:[^"\\]|\\.)*)"`)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "# TYPE urnd_"); ok {
			name, kind, _ := strings.Cut(rest, " ")
			kinds["urnd_"+name] = kind
			continue
		}
		m := sample.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := m[1]
		if kinds[name] == "" {
			name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" && !slices.Contains(labels[name], l[1]) {
				labels[name] = append(labels[name], l[1])
			}
			if !isOpenLabel(l[1]) {
				lines = append(lines, name+" "+l[1]+"="+l[2])
			}
		}
	}
	for name, kind := range kinds {
		slices.Sort(labels[name])
		lines = append(lines, strings.TrimSpace(name+" "+kind+" {"+strings.Join(labels[name], ",")+"}"))
	}
	return lines
}

// get returns the body of a response.
func (p *program) get(t *testing.T, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
