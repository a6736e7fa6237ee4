package gopher_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/resolver/scheme/gopher"
)

func TestMenuLines(t *testing.T) {
	for _, c := range []struct {
		line string
		want scheme.Item
	}{
		// RFC 1436 section 3.8.
		{
			"0About\t0/about\trawBits.micro.umn.edu\t70",
			scheme.Item{Kind: scheme.ItemText, Name: "About", URI: "gopher://rawbits.micro.umn.edu/00/about"},
		},
		{"1Menu\t\th\t7070", scheme.Item{Kind: scheme.ItemDirectory, Name: "Menu", URI: "gopher://h:7070/1"}},
		{"2Phones\t\th\t105", scheme.Item{
			Kind: scheme.ItemOther, Name: "Phones",
			Note: "CSO phone book, requires a CSO client",
		}},
		{"4Mac\ta\th\t70", scheme.Item{Kind: scheme.ItemArchive, Name: "Mac", URI: "gopher://h/4a"}},
		{"5DOS\ta\th\t70", scheme.Item{Kind: scheme.ItemArchive, Name: "DOS", URI: "gopher://h/5a"}},
		{"6UU\ta\th\t70", scheme.Item{Kind: scheme.ItemText, Name: "UU", URI: "gopher://h/6a"}},
		{"7Find\ta\th\t70", scheme.Item{Kind: scheme.ItemSearch, Name: "Find", URI: "gopher://h/7a"}},
		{"8Log in\tguest\th\t23", scheme.Item{Kind: scheme.ItemSession, Name: "Log in", URI: "telnet://guest@h/"}},
		{
			"8Log in\ta/b:c@d\th\t0",
			scheme.Item{Kind: scheme.ItemSession, Name: "Log in", URI: "telnet://a%2Fb%3Ac%40d@h/"},
		},
		{"TLog in\t\th\t2323", scheme.Item{Kind: scheme.ItemSession, Name: "Log in", URI: "tn3270://h:2323/"}},
		{"9Bits\ta\th\t70", scheme.Item{Kind: scheme.ItemFile, Name: "Bits", URI: "gopher://h/9a"}},
		{"gGIF\ta\th\t70", scheme.Item{Kind: scheme.ItemImage, Name: "GIF", URI: "gopher://h/ga"}},
		{"IImage\ta\th\t70", scheme.Item{Kind: scheme.ItemImage, Name: "Image", URI: "gopher://h/Ia"}},
		// Types that were added later.
		{"pPNG\ta\th\t70", scheme.Item{Kind: scheme.ItemImage, Name: "PNG", URI: "gopher://h/pa"}},
		{"sSound\ta\th\t70", scheme.Item{Kind: scheme.ItemSound, Name: "Sound", URI: "gopher://h/sa"}},
		{";Film\ta\th\t70", scheme.Item{Kind: scheme.ItemVideo, Name: "Film", URI: "gopher://h/%3Ba"}},
		{"dPDF\ta\th\t70", scheme.Item{Kind: scheme.ItemDocument, Name: "PDF", URI: "gopher://h/da"}},
		{"hPage\t/a.html\th\t70", scheme.Item{Kind: scheme.ItemWeb, Name: "Page", URI: "gopher://h/h/a.html"}},
		{"iText\t\terror.host\t1", scheme.Item{Kind: scheme.ItemInfo, Name: "Text"}},
		{"iText\t/a\th\t70", scheme.Item{Kind: scheme.ItemInfo, Name: "Text"}},
		{"Zodd\ta\th\t70", scheme.Item{Kind: scheme.ItemOther, Name: "odd", URI: "gopher://h/Za"}},
		{"?odd\ta\th\t70", scheme.Item{Kind: scheme.ItemOther, Name: "odd", URI: "gopher://h/%3Fa"}},
		// Links of type h.
		{
			"hWeb\tURL:http://example.org/?a=b#c\th\t70",
			scheme.Item{Kind: scheme.ItemWeb, Name: "Web", URI: "http://example.org/?a=b#c"},
		},
		{
			"hWeb\t/URL:gopher://example.org\th\t70",
			scheme.Item{Kind: scheme.ItemWeb, Name: "Web", URI: "gopher://example.org/1"},
		},
		{
			"hWeb\tURL:ftp://u:secret@example.org/\th\t70",
			scheme.Item{Kind: scheme.ItemWeb, Name: "Web", URI: "ftp://u@example.org/"},
		},
		{
			"hPage\tURL:gemini://example.org/a\th\t70",
			scheme.Item{Kind: scheme.ItemWeb, Name: "Page", URI: "gemini://example.org/a"},
		},
		{
			"hBook\tURL:urn:isbn:0395363411\th\t70",
			scheme.Item{Kind: scheme.ItemWeb, Name: "Book", URI: "urn:isbn:0395363411"},
		},
		{"hWeb\tURL:javascript:alert(1)\th\t70", scheme.Item{Kind: scheme.ItemWeb, Name: "Web"}},
		{"hWeb\tURL:file:///etc/passwd\th\t70", scheme.Item{Kind: scheme.ItemWeb, Name: "Web"}},
		{"hWeb\tURL:nonsense\th\t70", scheme.Item{Kind: scheme.ItemWeb, Name: "Web"}},
		// Bytes of selectors are preserved, and encoded once.
		{
			"0a\t a?b#c%41/../\xe9 é\th\t70",
			scheme.Item{Kind: scheme.ItemText, Name: "a", URI: "gopher://h/0%20a%3Fb%23c%2541/../%E9%20%C3%A9"},
		},
		{"0a\ta\t::1\t70", scheme.Item{Kind: scheme.ItemText, Name: "a", URI: "gopher://[::1]/0a"}},
		{
			"0a\ta\t[2001:DB8::1]\t7070\t+",
			scheme.Item{Kind: scheme.ItemText, Name: "a", URI: "gopher://[2001:db8::1]:7070/0a"},
		},
		{"0a\ta\t192.0.2.1\t 70 ", scheme.Item{Kind: scheme.ItemText, Name: "a", URI: "gopher://192.0.2.1/0a"}},
		{"0Form\ta\th\t70\t?", scheme.Item{Kind: scheme.ItemForm, Name: "Form", URI: "gopher://h/0a%09%09?"}},
		// Invalid addresses.
		{"0a\ta\terror.host\t70", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\tfake\t70", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\t(NULL)\t0", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\t\t70", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\th\t", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\th\t0", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\th\t65536", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\th\t-1", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\tu@h\t70", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\th/x?\t70", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\tfe80::1%lo\t70", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\x00b\th\t70", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta\rb\th\t70", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		{"0a\ta", scheme.Item{Kind: scheme.ItemText, Name: "a"}},
		// Texts of servers.
		{
			"0<b>caf\xe9\x1b[1m\ta\th\t70",
			scheme.Item{Kind: scheme.ItemText, Name: "<b>café\uFFFD[1m", URI: "gopher://h/0a"},
		},
		{"No tab", scheme.Item{Kind: scheme.ItemInfo, Name: "No tab"}},
		{"3Sorry\t\terror.host\t1", scheme.Item{Kind: scheme.ItemError, Name: "Sorry"}},
	} {
		p := respond(t, c.line+"\r\n0Last\ta\th\t70\r\n.\r\n0After\ta\th\t70\r\n")
		l := fetch(t, handler(), "gopher://"+p.addr).Listing
		if len(l.Items) != 2 || !reflect.DeepEqual(l.Items[0], c.want) {
			t.Errorf("%q: %+v, want %+v", c.line, l.Items, c.want)
		}
	}
}

func TestMenu(t *testing.T) {
	p := respond(t,
		"iThe title\tTITLE\t\t\r\n\n\t\t\t\r\n0A\ta\th\t70\t+\n+B\ta\th2\t70\r\n1C\tc\th\t70\n+D\tc\th2\t70")
	base := "gopher://" + p.addr
	l := fetch(t, handler(), base+"/1dir").Listing
	want := &scheme.Listing{
		Kind: scheme.KindMenu, Title: "The title", URI: base + "/1dir",
		Parent:     &scheme.Link{Text: "127.0.0.1", URI: base + "/1"},
		Properties: []scheme.Property{{Name: "Gopher+", Value: "attributes of all items", URI: base + "/1dir%09%09$"}},
		Items: []scheme.Item{
			{Kind: scheme.ItemText, Name: "A", URI: "gopher://h/0a"},
			{Kind: scheme.ItemText, Name: "B", URI: "gopher://h2/0a", Note: "alternative server of the previous item"},
			{Kind: scheme.ItemDirectory, Name: "C", URI: "gopher://h/1c"},
			{
				Kind: scheme.ItemDirectory, Name: "D", URI: "gopher://h2/1c",
				Note: "alternative server of the previous item",
			},
		},
	}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("%+v, want %+v", l, want)
	}
}

func TestMenuLimits(t *testing.T) {
	const line = "0A\ta\th\t70\r\n"
	few := limits()
	few.Entries, few.Bytes, few.Line = 10, 2000, 100
	h := gopher.New(gopher.Config{Dial: dial, Limits: few})
	for name, c := range map[string]struct {
		answer string
		items  int
		whole  bool
	}{
		"as many as allowed": {strings.Repeat(line, 10) + ".\r\n", 10, true},
		"one more":           {strings.Repeat(line, 11), 10, false},
		"a long line":        {line + strings.Repeat("x", 200) + "\r\n" + line, 2, false},
		"bytes":              {line + "i" + strings.Repeat(strings.Repeat("x", 80)+"\r\n", 40), 10, false},
		"an endless line":    {line + strings.Repeat("x", 20000), 1, false},
	} {
		l := fetch(t, h, "gopher://"+respond(t, c.answer).addr).Listing
		if len(l.Items) != c.items || (l.Incomplete == "") != c.whole {
			t.Errorf("%s: %d items, %q", name, len(l.Items), l.Incomplete)
		}
	}
}

// TestMenuOfLongLinks requires that reading stops where the rendered menu would be truncated: characters of
// selectors are escaped in links.
func TestMenuOfLongLinks(t *testing.T) {
	p := respond(t, strings.Repeat("0a\t"+strings.Repeat(`"`, 1000)+"\th\t70\r\n", 500))
	l := fetch(t, handler(), "gopher://"+p.addr+"/1").Listing
	size := int64(0)
	for _, item := range l.Items {
		size += item.RenderedSize()
	}
	if most := limits().Bytes; l.Incomplete == "" || size < most || size > most+most/10 {
		t.Errorf("%d items of %d bytes, %q", len(l.Items), size, l.Incomplete)
	}
}
