package bulk

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// shortURL is a short URL of Shlink, as its API has it.
type shortURL struct {
	ShortCode string   `json:"shortCode"`
	ShortURL  string   `json:"shortUrl"`
	LongURL   string   `json:"longUrl"`
	Created   string   `json:"dateCreated"`
	Tags      []string `json:"tags"`
	Title     string   `json:"title"`
	Meta      struct {
		ValidSince time.Time `json:"validSince"`
		ValidUntil time.Time `json:"validUntil"`
		MaxVisits  int       `json:"maxVisits"`
	} `json:"meta"`
	Visits struct {
		Total int `json:"total"`
	} `json:"visitsSummary"`
	Crawlable bool  `json:"crawlable"`
	Forward   *bool `json:"forwardQuery"`
	HasRules  bool  `json:"hasRedirectRules"`

	visits string // of CSV
}

// newShlinks reads the short URLs of Shlink: the CSV that its web client exports, or the JSON of its API.
func newShlinks(r io.Reader, base string) foreign {
	b := bufio.NewReaderSize(r, 64<<10)
	if start, _ := b.Peek(shown); beginsJSON(start) {
		return &shlinkDocuments{newDocuments(b, "shortUrls", "data"), base}
	}
	input := &boundedReader{r: b, left: maxLine}
	table := csv.NewReader(input)
	table.FieldsPerRecord, table.LazyQuotes = -1, true
	return &shlinkTable{input: input, table: table, base: base}
}

type shlinkDocuments struct {
	*documents
	base string
}

func (s *shlinkDocuments) next() (*item, error) {
	text, err := s.documents.next()
	if err != nil {
		return nil, err
	}
	var of shortURL
	if err := json.Unmarshal(text, &of); err != nil {
		return rejected(s.number, string(text), "it is no short URL of Shlink: %w", err), nil
	}
	return of.item(s.number, s.base), nil
}

type shlinkTable struct {
	input   *boundedReader
	table   *csv.Reader
	base    string
	columns map[string]int
}

func (s *shlinkTable) next() (*item, error) {
	if s.columns == nil {
		if err := s.header(); err != nil {
			return nil, err
		}
	}
	s.input.left = maxLine
	cells, err := s.table.Read()
	if err != nil {
		return nil, err
	}
	number, _ := s.table.FieldPos(0)
	cell := func(name string) string {
		if n, ok := s.columns[name]; ok && n < len(cells) {
			return strings.TrimSpace(cells[n])
		}
		return ""
	}
	of := shortURL{
		ShortCode: cell("shortcode"), ShortURL: cell("shorturl"), LongURL: cell("longurl"), Created: cell("createdat"),
		Title: cell("title"), visits: cell("visits"),
	}
	if tags := cell("tags"); tags != "" {
		of.Tags = strings.FieldsFunc(tags, func(c rune) bool { return c == '|' || c == ',' })
	}
	return of.item(int64(number), s.base), nil
}

func (s *shlinkTable) header() error {
	cells, err := s.table.Read()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	s.columns = make(map[string]int)
	for n, cell := range cells {
		s.columns[strings.ToLower(strings.TrimSpace(strings.TrimPrefix(cell, byteOrderMark)))] = n
	}
	if _, ok := s.columns["longurl"]; !ok {
		return errors.New("the first line has no column longUrl, as exports of Shlink have")
	}
	return nil
}

// item makes a name of a short URL.
func (s *shortURL) item(number int64, base string) *item {
	i := newItem(number, s.ShortURL+" "+s.LongURL)
	switch {
	case base != "" && s.ShortCode != "":
		i.entry.Name = below(base, encodedPath(s.ShortCode))
	default:
		i.entry.Name = s.ShortURL
	}
	i.to(registry.Target{URI: s.LongURL, From: s.Meta.ValidSince.UTC().Truncate(time.Millisecond), Until: s.Meta.ValidUntil.UTC().Truncate(time.Millisecond)})
	i.describe("title", s.Title)
	i.describe("created", s.Created)
	var tags []string
	for _, tag := range s.Tags {
		tags = append(tags, strings.TrimSpace(tag))
	}
	if len(tags) > 0 {
		i.describe("tags", tags)
	}
	if s.Meta.MaxVisits > 0 {
		i.lose("its bound of %d visits", s.Meta.MaxVisits)
	}
	if s.Visits.Total > 0 {
		i.lose("its %d visits", s.Visits.Total)
	}
	if s.visits != "" && s.visits != "0" {
		i.lose("its %.20s visits", s.visits)
	}
	if s.HasRules {
		i.lose("its rules by device, language or query (hasRedirectRules), which are in another document")
	}
	if s.Forward != nil && !*s.Forward {
		i.lose("that the query of a request is not appended (forwardQuery): it is, where urnd answers for the host")
	}
	return i
}
