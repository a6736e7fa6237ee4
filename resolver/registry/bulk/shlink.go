package bulk

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/internal/tabular"
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

// shlinkDocuments reads the short URLs of Shlink: the JSON of its API.
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

// shlinkTable reads the short URLs of Shlink: the CSV that its web client exports.
type shlinkTable struct {
	source  *charset.Source
	table   *tabular.Reader
	base    string
	columns []string // in lower case
}

func newShlinkTable(source *charset.Source, base string) (*shlinkTable, error) {
	s := &shlinkTable{source: source, table: tabular.NewReader(source, 0), base: base}
	header, err := s.table.Header()
	if err != nil {
		return nil, err
	}
	for _, cell := range header.Cells {
		s.columns = append(s.columns, strings.ToLower(cell))
	}
	if !slices.Contains(s.columns, "longurl") {
		return nil, errors.New("the first line has no column longUrl, as exports of Shlink have")
	}
	return s, nil
}

func (s *shlinkTable) next() (*item, error) {
	row, err := s.table.Read()
	if err != nil {
		return nil, err
	}
	fault := row.Err
	if fault == nil {
		fault = s.source.Check(row.Text)
	}
	if fault == nil && len(row.Cells) > len(s.columns) {
		fault = errCells
	}
	if fault != nil {
		return rejected(row.Line, row.Text, "%w", fault), nil
	}
	cell := func(name string) string {
		if n := slices.Index(s.columns, name); n >= 0 && n < len(row.Cells) {
			return strings.TrimSpace(row.Cells[n])
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
	i := of.item(row.Line, s.base)
	for n, cell := range row.Cells {
		if name := s.columns[n]; cell != "" && !isShlinkColumn(name) {
			i.lose("its %.40s: %.200s", name, cell)
		}
	}
	return i, nil
}

// isShlinkColumn reports whether a column is carried over, or is a part of another one, as the domain is.
func isShlinkColumn(name string) bool {
	return slices.Contains([]string{"shortcode", "shorturl", "longurl", "createdat", "title", "tags", "visits", "domain"}, name)
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
