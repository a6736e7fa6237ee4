package editor

import (
	"net/url"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/proxy/message"
)

// PathNames is where names are looked for, which is where editors begin.
const PathNames = "/registry/names"

// apiNames is where the API has them.
const apiNames = "/api/v1/names"

// namesPage is what the page of names shows.
type namesPage struct {
	Asked url.Values
	Names []api.Name
	Next  string // the target of the next page, "" for none
}

// serveNames lists names.
func (e *Editor) serveNames(p *Request) (message.Reply, error) {
	asked := p.URL.Query()
	q := make(url.Values)
	for _, name := range []string{"prefix", "text", "target", "status", "tag", "cursor"} {
		if value := asked.Get(name); value != "" {
			q.Set(name, value)
		}
	}
	var found api.NamePage
	if err := e.get(p, apiNames, q, &found); err != nil {
		return message.Reply{}, err
	}
	page := namesPage{Asked: asked, Names: found.Names}
	if found.Next != "" {
		q.Set("cursor", found.Next)
		page.Next = PathNames + "?" + q.Encode()
	}
	return e.show(p, "Names", "names.html", page), nil
}
