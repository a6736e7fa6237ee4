package cache

import (
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/admin"
	"github.com/urnd/urnd/internal/plaintext"
)

func newShow(k kinds) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show URI",
		Short: "Print what is cached of a URI",
		Long: `Print what is cached of a URI: of an http or https URL, and of one that a gateway
retrieves, the stored responses, with the fields of requests that select each of them; of a URN, or
another URI, the answers for all services.`,
		Example: "  urnd cache show http://www.example.org/\n  urnd cache show --output json urn:isbn:0-395-36341-1",
		Args:    cobra.ExactArgs(1),
	}
	f := admin.AddFlags(cmd)
	output := cli.AddOutput(cmd, "the document of "+pathResponses+" or "+pathAnswers, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		of, normal, err := k.cachedAs(args[0])
		if err != nil {
			return err
		}
		var document cachedJSON
		return f.Show(cmd, output, pathOf(of), url.Values{"uri": {normal}}, &document, func(w io.Writer) error { return document.print(w, args[0]) })
	}
	return cmd
}

// cachedJSON is the document of what is cached of a URI.
type cachedJSON struct {
	Responses []api.Response
	Entries   []api.Entry
}

// print prints what is cached of the URI name.
func (document cachedJSON) print(w io.Writer, name string) error {
	var lines []string
	for _, r := range document.Responses {
		lines = append(lines, responseLines(r)...)
	}
	for _, e := range document.Entries {
		lines = append(lines, e.Key+": "+freshness(e.TTL))
		for _, l := range e.Locations {
			lines = append(lines, "  "+l.URI)
		}
		if e.Reason != "" {
			lines = append(lines, "  no: "+e.Reason)
		}
	}
	if lines == nil {
		lines = []string{name + ": nothing is cached"}
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, plaintext.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// responseLines describe a stored response.
func responseLines(r api.Response) []string {
	size, where := fmt.Sprintf("%d bytes", r.Size), "still arriving"
	if r.Size < 0 {
		size = "of unknown length"
	}
	if len(r.Where) > 0 {
		where = strings.Join(r.Where, " and ")
	}
	lines := []string{fmt.Sprintf("%d: %s, age %s, %s, %s", r.Status, freshness(r.TTL), seconds(r.Age), size, where)}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, "  "+name+": "+value)
		}
	}
	if r.Spelling != "" {
		add("spelling", strconv.Quote(r.Spelling)) // it is what a client has sent
	}
	for _, name := range slices.Sorted(maps.Keys(r.Selecting)) {
		value := "none"
		if shown := r.Selecting[name]; shown != nil {
			value = *shown
		}
		lines = append(lines, "  for requests with "+name+": "+value)
	}
	add("ETag", r.ETag)
	add("Last-Modified", r.LastModified)
	add("tags", strings.Join(r.Tags, ", "))
	if r.Partial {
		add("partial", "only a part is stored")
	}
	if r.Purged {
		add("purged", "it is validated before it is used again")
	}
	return lines
}

func freshness(ttl int64) string {
	if ttl > 0 {
		return "fresh for " + seconds(ttl)
	}
	return "stale for " + seconds(-ttl)
}

func seconds(n int64) string { return (time.Duration(n) * time.Second).String() }
