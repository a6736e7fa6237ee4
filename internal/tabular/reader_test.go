package tabular_test

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/urnd/urnd/internal/tabular"
)

// read returns the rows of a table.
func read(t *testing.T, text string) (rows []tabular.Row) {
	t.Helper()
	r := tabular.NewReader(strings.NewReader(text), 0)
	if _, err := r.Header(); err != nil {
		t.Fatal(err)
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
}

func TestHeader(t *testing.T) {
	for _, c := range []struct {
		name, text string
		separator  byte
		want       string
		line       int64
	}{
		{"commas", "a, b;c \n", 0, `["a" "b;c"]`, 1},
		{"semicolons", "Urn;Link, long;\r\n", 0, `["Urn" "Link, long" ""]`, 1},
		{"tabs", "a\tb,c\n", '\t', `["a" "b,c"]`, 1},
		{"tabs, found", "a\tb\n", 0, `["a" "b"]`, 1},
		{"several lines", "\"a,\"\"b\",\"c\nd\"\n", 0, `["a,\"b" "c\nd"]`, 1},
		{"empty lines", "\n \r\na,b", 0, `["a" "b"]`, 3},
		{"sep=", "sep=|\r\na|b,c\n", '\t', `["a" "b,c"]`, 2},
		{"sep= of two characters", "sep=||\n", 0, `["sep=||"]`, 1},
		{"sep= twice", "sep=;\nsep=,\n", 0, `["sep=,"]`, 2},
		{"nothing", "\n \n", 0, tabular.ErrEmpty.Error(), 0},
		{"no end", "\"a,b\n", 0, "column names: a quotation mark is not closed", 0},
		{"too long", strings.Repeat("x", 2<<20), 0, "column names: it has more than 1048576 bytes", 0},
		{"too many", strings.Repeat("x,", tabular.MaxCells), 0, "column names: it has more than 2000 cells", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			row, err := tabular.NewReader(iotest.HalfReader(strings.NewReader(c.text)), c.separator).Header()
			got := fmt.Sprintf("%q", row.Cells)
			if err != nil {
				got = err.Error()
			}
			if got != c.want || row.Line != c.line {
				t.Errorf("%s in line %d, want %s in line %d", got, row.Line, c.want, c.line)
			}
		})
	}
}

// TestBounds checks that a row that exceeds a limit is a single invalid row, and that adjacent rows are read.
func TestBounds(t *testing.T) {
	for _, c := range []struct{ name, row, want string }{
		{"cells", strings.Repeat(",", tabular.MaxCells), "it has more than 2000 cells"},
		{"as many as there may be", strings.Repeat(",", tabular.MaxCells-1), ""},
		{"separators in quotation marks", `"` + strings.Repeat(",", 3*tabular.MaxCells) + `"`, ""},
		{"cells of several lines", strings.Repeat("\"\n\",", tabular.MaxCells) + "x", "it has more than 2000 cells"},
		{
			"its number of undoubled quotation marks", `a"` + strings.Repeat(",", tabular.MaxCells),
			"it has more than 2000 cells",
		},
		{
			"one of its cells has more than ", "a," + strings.Repeat("x", tabular.MaxCell+1),
			"one of its cells has more than 262144 bytes",
		},
		{
			"a quoted cell", `a,"` + strings.Repeat("\n", tabular.MaxCell+1) + `"`,
			"one of its cells has more than 262144 bytes",
		},
		{"a row", strings.Repeat("x,", 3<<20), "it has more than 1048576 bytes"},
		{"no end", `"` + strings.Repeat("x,", 100), "a quotation mark is not closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := read(t, "a,b\nc,d\n\n"+c.row+"\ne,f\n")
			if len(rows) != 3 || rows[0].Line != 2 || rows[1].Line != 4 ||
				rows[2].Line != 5+int64(strings.Count(c.row, "\n")) || rows[2].Cells[1] != "f" {
				t.Fatalf("there are %.500v", rows)
			}
			if err := rows[1].Err; err == nil && c.want != "" || err != nil && err.Error() != c.want {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestMemory checks that memory is bounded by a few rows for 16 MiB of commas or empty cells.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name, part string
		size       int64
	}{
		{"commas", ",", 16 << 20},
		{"rows of commas", strings.Repeat(",", 1000) + "\n", 4 << 20},
		{"short rows", ",\n", 2 << 20},
		{"quoted cells", `"",`, 16 << 20},
		{"quoted line ends", "\"\n\",", 2 << 20},
		{"marks that are not closed", "\",", 16 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := io.LimitReader(&repeated{part: c.part}, c.size)
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			r := tabular.NewReader(io.MultiReader(strings.NewReader("a,b\n"), in), 0)
			if _, err := r.Header(); err != nil {
				t.Fatal(err)
			}
			most, rows := uint64(0), 0
			for {
				_, err := r.Read()
				if err != nil {
					break
				}
				if rows++; rows%100_000 == 1 {
					runtime.GC()
					runtime.ReadMemStats(&after)
					most = max(most, after.HeapAlloc-min(before.HeapAlloc, after.HeapAlloc))
				}
			}
			runtime.ReadMemStats(&after)
			all := after.TotalAlloc - before.TotalAlloc
			t.Logf("%d rows; %d KiB at a time, %d KiB in all", rows, most>>10, all>>10)
			if most > 8<<20 || all > 64*uint64(c.size) {
				t.Errorf("it takes %d KiB at a time, %d KiB in all", most>>10, all>>10)
			}
		})
	}
}

// repeated is an endless text.
type repeated struct {
	part string
	at   int
}

func (r *repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = r.part[r.at]
		r.at = (r.at + 1) % len(r.part)
	}
	return len(p), nil
}

// TestInputFails checks that a read error is not treated as the end of the input.
func TestInputFails(t *testing.T) {
	r := tabular.NewReader(io.MultiReader(strings.NewReader("a,b\n"), iotest.ErrReader(io.ErrClosedPipe)), ',')
	if _, err := r.Header(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

// TestDocument checks that lines of a document end with CRLF, and that cells are preserved.
func TestDocument(t *testing.T) {
	var b strings.Builder
	w := tabular.NewDocumentWriter(&b)
	if err := errors.Join(w.Write("a", "b\nc\rd"), w.Flush()); err != nil {
		t.Fatal(err)
	}
	if want := "a,\"b\nc\rd\"\r\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

// FuzzTable checks that a written table is read back unchanged, and by encoding/csv except that it converts
// CRLF to LF.
func FuzzTable(f *testing.F) {
	f.Add("a", "b\r\n\"c\"", "d,e", ";\t")
	f.Add(" ", "", "\n", "\"")
	f.Add("=a ", "'=", "\t-", "\\.")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		rows := [][]string{{"x" + a, b}, {"y" + c, d}}
		text := "a,b\n" + written(t, rows[0]...) + written(t, rows[1]...)
		got := read(t, text)
		r := csv.NewReader(strings.NewReader(text))
		others, err := r.ReadAll()
		if err != nil || len(got) != len(rows) || len(others) != len(rows)+1 {
			t.Fatalf("%q: %d rows, %d of encoding/csv, %v", text, len(got), len(others), err)
		}
		for n, row := range rows {
			for i, want := range row {
				if cell := tabular.Unguard(got[n].Cells[i]); cell != want {
					t.Fatalf("%q was read as %q", want, cell)
				}
				if other := got[n].Cells[i]; strings.ReplaceAll(other, "\r\n", "\n") != others[n+1][i] {
					t.Fatalf("encoding/csv reads %q, not %q", others[n+1][i], other)
				}
			}
		}
	})
}

// FuzzReader checks that any input yields rows with ascending line numbers, independent of how the input is
// split.
func FuzzReader(f *testing.F) {
	for _, text := range []string{
		"name,target\na,b\n", "name;note\n\"a\";\"b\"\"\r\nc\"\r\n", "sep=|\na|b\n\"\n",
		"a\"b,\"c\nd\"e\n", "a,b\n\n\r\n\r\r\n", "a\n\"b\" \"c\"\nd\"\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole := all(t, strings.NewReader(text))
		if parts := all(t, iotest.OneByteReader(strings.NewReader(text))); parts != whole {
			t.Fatalf("%s\nis byte by byte\n%s", whole, parts)
		}
	})
}

func all(t *testing.T, in io.Reader) string {
	t.Helper()
	r := tabular.NewReader(in, 0)
	row, err := r.Header()
	var b strings.Builder
	fmt.Fprintf(&b, "%d %q %v\n", row.Line, row.Cells, err)
	if err != nil {
		return b.String()
	}
	for last := row.Line; ; {
		row, err := r.Read()
		if err != nil {
			fmt.Fprintf(&b, "%v", err)
			return b.String()
		}
		if row.Line <= last || len(row.Cells) > tabular.MaxCells ||
			(row.Err == nil) != (len(row.Cells) > 0) && row.Err == nil {
			t.Fatalf("after line %d there is %+v", last, row)
		}
		last = row.Line
		fmt.Fprintf(&b, "%d %q %q %v\n", row.Line, row.Text, row.Cells, row.Err)
		if !strings.HasSuffix(row.Text, "\n") && utf8.RuneCountInString(row.Text) < 1000 {
			t.Fatalf("%q has no end", row.Text)
		}
	}
}
