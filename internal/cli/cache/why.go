package cache

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/admin"
	"github.com/urnd/urnd/internal/plaintext"
)

var errWhyName = errors.New("this is a name, which has no stored responses: urnd cache show prints its answers")

func newWhy(k kinds) *cobra.Command {
	var headers []string
	var fetch bool
	cmd := &cobra.Command{
		Use:   "why URL",
		Short: "Explain how the cache handles a request for a URL",
		Long: `Explain how the cache handles a GET request for a URL: which entry of proxy.sites matches,
which of its cache rules apply, the key of its responses, whether a stored response is used
or the request goes to the origin, and which responses are stored, since when, how long they are
fresh, and why. Nothing is sent to the origin and nothing changes.

With --fetch urnd itself first sends the request once, whatever proxy.rules say, and the
output describes the state after it, with the reason why the response was stored or not. A fresh
stored response is used; --header 'Cache-Control: no-cache' forwards the request to the origin.`,
		Example: `  urnd cache why http://www.example.org/
  urnd cache why https://www.example.org/ --header 'Accept-Encoding: gzip' --header 'Accept-Language: de'
  urnd cache why http://www.example.org/ --fetch --output json`,
		Args: cobra.ExactArgs(1),
	}
	f := admin.AddFlags(cmd)
	cmd.Flags().StringArrayVar(&headers, "header", nil, "header `field` of the request, as Name: value; repeatable")
	cmd.Flags().BoolVar(&fetch, "fetch", false, "send the request once first")
	output := cli.AddOutput(cmd, "the document of "+pathWhy, cli.JSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		of, normal, err := k.cachedAs(args[0])
		if err != nil {
			return err
		}
		if of != ofResponses {
			return cli.Usage(errWhyName)
		}
		for _, h := range headers {
			if name, _, ok := strings.Cut(h, ":"); !ok || name == "" {
				return cli.Usage(fmt.Errorf("--header %q is not a field in the form Name: value", h))
			}
		}
		query := url.Values{"uri": {normal}}
		if len(headers) > 0 {
			query["header"] = headers
		}
		if fetch {
			query.Set("fetch", "true")
		}
		var document api.Explanation
		return f.Show(cmd, output, pathWhy, query, &document, func(w io.Writer) error { return printWhy(w, &document) })
	}
	return cmd
}

// printWhy prints the explanation of a request.
func printWhy(w io.Writer, document *api.Explanation) error {
	for _, line := range whyLines(document) {
		if _, err := fmt.Fprintln(w, plaintext.OneLine(line)); err != nil {
			return err
		}
	}
	return nil
}

// whyLines returns the lines that explain a request.
func whyLines(d *api.Explanation) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if s := d.Sent; s != nil {
		add("sent: the response is %d (Cache-Status: %s)", s.Status, s.CacheStatus)
		switch {
		case s.Stored:
			add("  it is stored")
		case s.NotStored != nil:
			lines = append(lines, reasonLines("  not stored: ", s.NotStored)...)
		}
	}
	switch d.Outcome {
	case "urnd":
		text := fmt.Sprintf("response of urnd itself: %d", d.Status)
		if d.Location != "" {
			text += ", to " + d.Location
		}
		add("%s", text)
	case "origin":
		lines = append(lines, reasonLines("forwarded to the origin: ", d.Reason)...)
	default:
		lines = append(lines, reasonLines("served from the cache: ", d.Reason)...)
	}
	lines = append(lines, siteLines(d)...)
	add("key: %s", d.Key)
	if d.Spelling != "" {
		add("  the server gets %q", d.Spelling)
	}
	for i := range d.Responses {
		lines = append(lines, variantLines(d, &d.Responses[i])...)
	}
	if len(d.Responses) == 0 && d.Outcome != "urnd" {
		add("stored: nothing")
	}
	return lines
}

// siteLines returns the lines about the site of a request, and its rules.
func siteLines(d *api.Explanation) (lines []string) {
	if d.Site == nil {
		return []string{"site: none of proxy.sites; a request to the forward proxy, without cache rules"}
	}
	paths := d.Site.Path
	if paths == "" {
		paths = ", all paths that no other entry matches"
	}
	lines = []string{fmt.Sprintf("site: %s: %s%s", d.Site.Setting, d.Site.Host, paths)}
	if d.Outcome == "urnd" {
		return lines
	}
	for i, rule := range d.Site.Rules {
		lines = append(lines, fmt.Sprintf("  rule %d of cache: %s", i, rule))
	}
	if len(d.Site.Rules) == 0 {
		lines = append(lines, "  no cache rules: its servers decide how long responses are fresh")
	}
	if d.Rule != "" {
		lines = append(lines, "  for the selected response: "+d.Rule)
	}
	return lines
}

// reasonLines returns the lines of a reason.
func reasonLines(before string, r *api.Reason) []string {
	if r == nil {
		return []string{strings.TrimSuffix(before, ": ")}
	}
	text := before + r.Text
	if r.Section != "" {
		text += " (" + r.Section + ")"
	}
	lines := []string{text}
	if r.Advice != "" {
		lines = append(lines, "  "+r.Advice)
	}
	return lines
}

// variantLines returns the lines about a stored response, and the source of its freshness lifetime.
func variantLines(d *api.Explanation, r *api.ExplainedResponse) []string {
	lines := responseLines(r.Response)
	lines[0] = "stored " + lines[0]
	if r.Selected {
		lines[0] += ", which the request selects"
	}
	until, by := "fresh until", "it has no lifetime"
	if r.TTL <= 0 {
		until = "stale since"
	}
	switch r.LifetimeFrom {
	case "":
	case "heuristic":
		by = fmt.Sprintf("a heuristic lifetime of %s from Last-Modified (RFC 9111 section 4.2.2)", seconds(r.Lifetime))
	case "override":
		by = fmt.Sprintf("a lifetime of %s from a rule of proxy.sites[].cache", seconds(r.Lifetime))
		if r.Selected && d.Rule != "" {
			by = fmt.Sprintf("a lifetime of %s from %s", seconds(r.Lifetime), d.Rule)
		}
	default:
		by = fmt.Sprintf("a lifetime of %s from %s of the origin (RFC 9111 section 4.2.1)", seconds(r.Lifetime),
			r.LifetimeFrom)
	}
	return append(lines, "  received: "+r.Received, "  "+until+": "+r.FreshUntil+", "+by)
}
