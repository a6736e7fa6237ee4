package bulk_test

import (
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry/bulk"
)

// endless repeats a text without end.
type endless struct {
	part string
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.part[e.at]
		e.at = (e.at + 1) % len(e.part)
	}
	return len(p), nil
}

// TestMemoryOfInput checks that reading any format takes no more memory than a few rows or entries, whatever
// their content.
func TestMemoryOfInput(t *testing.T) {
	const most = 8 << 20
	for _, c := range []struct {
		name        string
		format      bulk.Format
		begin, part string
		size        int64
	}{
		{"commas", bulk.CSV, "name,target\n", ",", 16 << 20},
		{"rows of commas", bulk.CSV, "name,target\n", strings.Repeat(",", 3000) + "\n", 16 << 20},
		{"targets in a cell", bulk.CSV, "name,targets\n", "a b c d ", 900 << 10},
		{"short rows", bulk.CSV, "name,target\n", ",\n", 2 << 20},
		{"elements of JSON", bulk.NDJSON, `{"name":"urn:nbn:fi:a","targets":[0`, ",0", 1000 << 10},
		{"members of JSON", bulk.NDJSON, `{"metadata":{`, `"":0,`, 1000 << 10},
		{"nested JSON", bulk.NDJSON, `{"metadata":`, `{"a":`, 1000 << 10},
		{"nested arrays", bulk.NDJSON, `{"metadata":{"a":`, `[`, 1000 << 10},
		{"members of a document", bulk.DataCite, `{"a":0`, `,"a":0`, 8 << 20},
		{"lists of documents", bulk.DataCite, ``, `{"data":[`, 1 << 20},
		{"elements of XML", bulk.PURL, `<a>`, `<a>`, 8 << 20},
		{"attributes of XML", bulk.PURL, `<a `, `a="" `, 8 << 20},
		{"columns of Shlink", bulk.Shlink, "longUrl\n", ",", 8 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := ""
			if c.format == bulk.PURL {
				base = "https://a.example/"
			}
			i := bulk.Import{
				Registry: open(t), Actor: admin, Format: c.format, Base: base, DryRun: true,
				TempDir: t.TempDir(),
			}
			in := &measured{r: io.MultiReader(strings.NewReader(c.begin),
				io.LimitReader(&endless{part: c.part}, c.size))}
			runtime.GC()
			runtime.GC() // finalizers free what earlier tests have closed
			runtime.ReadMemStats(&in.before)
			report, err := i.Run(t.Context(), in)
			if err == nil && report.Names > 0 || errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%+v, %v", report, err)
			}
			in.measure()
			if in.most > most {
				t.Errorf("it takes %d KiB", in.most>>10)
			}
			t.Logf("%d KiB, %d KiB in all; %v", in.most>>10, in.all>>10, err)
		})
	}
}

// measured measures the memory in use during reads.
type measured struct {
	r         io.Reader
	n, last   int
	before    runtime.MemStats
	most, all uint64
}

func (m *measured) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if m.n += n; m.n-m.last > 2<<20 || err != nil {
		m.last = m.n
		m.measure()
	}
	return n, err
}

func (m *measured) measure() {
	var now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&now)
	m.most = max(m.most, now.HeapAlloc-min(m.before.HeapAlloc, now.HeapAlloc))
	m.all = now.TotalAlloc - m.before.TotalAlloc
}
