package bulk

import (
	"cmp"
	"strconv"
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
	VisitsCount int                `json:"visitsCount"` // of versions before 4
	Devices     map[string]*string `json:"deviceLongUrls"`
	Domain      string             `json:"domain"`
	Crawlable   bool               `json:"crawlable"`
	Forward     *bool              `json:"forwardQuery"`
	HasRules    bool               `json:"hasRedirectRules"`

	visits string // of CSV
}

// shlinkDocuments reads the short URLs of Shlink: the JSON of its API.
type shlinkDocuments struct {
	*documents
	base string
}

func (s *shlinkDocuments) next() (*item, error) {
	var of shortURL
	text, bad, err := s.entry("short URL of Shlink", &of)
	if bad != nil || err != nil {
		return bad, err
	}
	i := of.item(s.number, s.base)
	i.loseMembers(unmappedMembers(text, "", "shortCode", "shortUrl", "longUrl", "domain", "dateCreated", "tags", "title",
		"meta", "visitsCount", "visitsSummary", "crawlable", "forwardQuery", "hasRedirectRules", "deviceLongUrls"))
	return i, nil
}

// shlinkTable reads the short URLs of Shlink: the CSV that its web client exports.
type shlinkTable struct {
	*foreignTable
	base string
}

func (s *shlinkTable) next() (*item, error) {
	r, bad, err := s.record("longUrl")
	if bad != nil || err != nil {
		return bad, err
	}
	of := shortURL{
		ShortCode: r.take("shortcode"), ShortURL: r.take("shorturl"), LongURL: strings.TrimSpace(r.take("longurl")),
		Created: r.take("createdat"), Title: r.take("title"), visits: r.take("visits"), Domain: r.take("domain"),
	}
	if tags := r.take("tags"); tags != "" {
		of.Tags = strings.FieldsFunc(tags, func(c rune) bool { return c == '|' || c == ',' })
	}
	i := of.item(r.number, s.base)
	i.loseMembers(r.rest())
	return i, nil
}

// item makes a name of a short URL.
func (s *shortURL) item(number int64, base string) *item {
	i := newItem(number, s.ShortURL+" "+s.LongURL)
	switch {
	case base != "" && s.ShortCode != "":
		i.named(pathBase(base), s.ShortCode)
		i.source = cmp.Or(s.ShortURL, s.Domain+"/"+s.ShortCode)
	case s.ShortURL != "":
		i.nameEncoded("", s.ShortURL, s.ShortURL)
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
		i.loseField("maxVisits", "its bound of %d visits", s.Meta.MaxVisits)
	}
	if visits := cmp.Or(s.visits, strconv.Itoa(max(s.Visits.Total, s.VisitsCount))); visits != "0" {
		i.loseField("visits", "its %.20s visits", visits)
	}
	if s.Crawlable {
		i.loseField("crawlable", "that crawlers may visit it (crawlable)")
	}
	for device, target := range s.Devices {
		if target != nil && *target != "" {
			i.loseField("deviceLongUrls", "its address for the device %.40s: %.200s", device, *target)
		}
	}
	if s.HasRules {
		i.loseField("hasRedirectRules",
			"its rules by device, language or query (hasRedirectRules), which are in another document")
	}
	if s.Forward != nil && !*s.Forward {
		i.loseField("forwardQuery",
			"that the query of a request is not appended (forwardQuery): it is, where urnd answers for the host")
	}
	return i
}
