package bulk

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// yourlsLink is a link of YOURLS: a row of its table of URLs, as plugins and phpMyAdmin export it, or an object of its
// API.
type yourlsLink struct {
	Keyword   string `json:"keyword"`
	ShortURL  string `json:"shorturl"`
	URL       string `json:"url"`
	LongURL   string `json:"longurl"`
	Title     string `json:"title"`
	Timestamp string `json:"timestamp"`
	IP        string `json:"ip"`
	Clicks    any    `json:"clicks"` // a number, or its text
}

// newYOURLSDocuments reads JSON of the API of YOURLS: the answers to the actions stats, list and expand.
func newYOURLSDocuments(r io.Reader, base string) *yourlsDocuments {
	d := newDocuments(r, "result")
	d.maps = []string{"links"} // link_1, link_2 and so on
	return &yourlsDocuments{d, base}
}

type yourlsDocuments struct {
	*documents
	base string
}

func (y *yourlsDocuments) next() (*item, error) {
	var of yourlsLink
	text, bad, err := y.entry("link of YOURLS", &of)
	if bad != nil || err != nil {
		return bad, err
	}
	i := of.item(y.number, y.base)
	// message and statusCode are of the answer.
	i.loseMembers(unmappedMembers(text, "", "keyword", "shorturl", "url", "longurl", "title", "timestamp", "ip", "clicks",
		"message", "statusCode"))
	return i, nil
}

// yourlsTable reads CSV with the columns of the table of URLs of YOURLS, or those of the plugin Import Export.
type yourlsTable struct {
	*foreignTable
	base string
}

func (y *yourlsTable) next() (*item, error) {
	r, bad, err := y.record("url", "target", "longurl")
	if bad != nil || err != nil {
		return bad, err
	}
	of := yourlsLink{
		Keyword: r.take("keyword"), ShortURL: r.take("shorturl"), URL: r.take("url", "target", "longurl"),
		Title: r.take("title"), Timestamp: r.take("timestamp"), IP: r.take("ip"), Clicks: r.take("clicks", "hits"),
	}
	if of.Keyword == "" { // the plugin Import Export writes "/keyword/"
		of.Keyword = strings.Trim(r.take("source"), "/")
	}
	i := of.item(r.number, y.base)
	i.loseMembers(r.rest())
	return i, nil
}

// item makes a name of a link.
func (y *yourlsLink) item(number int64, base string) *item {
	if y.URL == "" {
		y.URL = y.LongURL
	}
	i := newItem(number, strings.TrimSpace(y.Keyword+" "+y.ShortURL+" "+y.URL))
	if y.Keyword == "" {
		y.Keyword = y.ShortURL[strings.LastIndexByte(y.ShortURL, '/')+1:] // it has no slash
	}
	switch {
	case base != "" && y.Keyword != "":
		i.named(pathBase(base), y.Keyword)
	case y.ShortURL != "":
		i.nameEncoded("", y.ShortURL, y.ShortURL)
	case y.Keyword != "":
		i.reject("it is a keyword: --base is what comes before it, such as https://short.example.org/")
	}
	if y.URL != "" {
		i.to(registry.Target{URI: strings.TrimSpace(y.URL)})
	}
	i.describe("title", y.Title)
	i.describe("created", y.Timestamp)
	if y.IP != "" {
		i.loseField("ip", "the address that it was made from")
	}
	if clicks, err := json.Marshal(y.Clicks); err == nil && y.Clicks != nil {
		if text := strings.Trim(string(clicks), `"`); text != "0" && text != "" {
			i.loseField("clicks", "its %.20s clicks", text)
		}
	}
	return i
}
