package uri

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/clitest"
)

func TestURICommands(t *testing.T) {
	for _, tt := range []struct {
		args  string // separated by spaces
		stdin string
		want  string
		bad   bool
	}{
		{args: "normalize HTTP://A:80 URN:Example:a%2c#f", want: "http://a/\nurn:example:a%2C#f\n"},
		{args: "normalize -", stdin: "HTTP://A\r\nx y\nurn:urn:a\n", bad: true, want: "http://a/\n" +
			`error: parsing "x y": offset 1: path: this byte is not allowed in a path (RFC 3986 section 3.3)` + "\n" +
			`error: parsing "urn:urn:a": offset 4: NID: the NID "urn" is reserved (RFC 8141 section 5.1)` + "\n"},
		{
			args: "normalize --output json HTTP://A/%7e %", bad: true,
			want: `{"input":"HTTP://A/%7e","output":"http://a/~"}` + "\n" +
				`{"input":"%","error":{"message":"a percent sign is followed by two hexadecimal digits","offset":0,"rule":"pct-encoded","section":"RFC 3986 section 2.1"}}` + "\n",
		},
		{
			args: "key URN:ISBN:0-395-36341-1 http://A/#f urn:example:a?+r?=q",
			want: "urn:isbn:0395363411\nhttp://a/\nurn:example:a\n",
		},
		{
			args: "key --output json urn:isbn:1", bad: true,
			want: `{"input":"urn:isbn:1","error":{"message":"an ISBN has 10 or 13 digits, ` +
				`the last of 10 may be X, with or without hyphens","offset":10,"rule":"ISBN","section":"RFC 3187 section 3.1"}}` + "\n",
		},
		{
			args: "compare http://a http://A:80/",
			want: "scheme\tequal in the normal form of the scheme: default port, empty path and the like (RFC 3986 " +
				"section 6.2.3)\n",
		},
		{args: "compare urn:doi:10.1000/A https://doi.org/10.1000/a", want: "namespace\tequal by the rules of " +
			"namespace \"doi\" (IANA urn-formal/doi)\n"},
		{
			args: "compare --output json -", stdin: "urn:a1:b\tURN:A1:b\nurn:a1:b\turn:a1:c\nurn:a1:b\n", bad: true,
			want: `{"input":"urn:a1:b\tURN:A1:b","equivalent":true,"rung":"urn","reason":"equal after the steps for URNs (RFC 8141 section 3.1)"}` + "\n" +
				`{"input":"urn:a1:b\turn:a1:c","equivalent":false,"rung":"different","reason":"different after every step of normalization"}` + "\n" +
				`{"input":"urn:a1:b","error":{"message":"two URIs are separated by a tab","offset":8,"rule":"pair","section":"urnd uri --help"}}` + "\n",
		},
		{args: "join http://a/b/c/d;p?q ../g ?y", want: "http://a/b/g\nhttp://a/b/c/d;p?y\n"},
		{args: "join --profile draft http://a/b/c/d;p?q ../../../g ?y", want: "http://a/../g\nhttp://a/b/c/?y\n"},
		{args: "join --profile draft-remove http://a/b ../../g", want: "http://a/g\n"},
		{
			args: "join --profile draft-refuse http://a/b ../g", bad: true,
			want: `error: parsing "../g": offset 0: relative-path: the reference climbs above the root of its base (draft-fielding-uri-syntax-02 section 5.2 step 6g)` + "\n",
		},
		{args: "join http://a/b -", stdin: "c\n\n", want: "http://a/c\nhttp://a/b\n"},
		{
			args: "join --output json -", stdin: "http://a/b\tc\nb\n", bad: true,
			want: `{"input":"c","base":"http://a/b","output":"http://a/c"}` + "\n" +
				`{"input":"b","base":"","error":{"message":"two URIs are separated by a tab","offset":1,"rule":"pair","section":"urnd uri --help"}}` + "\n",
		},
		{
			args: "parse --output json http://u@h:1/p?#",
			want: `{"input":"http://u@h:1/p?#","scheme":"http","userinfo":"u","host":"h","port":"1","path":"/p","query":"","fragment":""}` + "\n",
		},
		{args: "extract", stdin: "see <URL:http://a/b-\nc>, urn:a1:b.", want: "http://a/b-c\nurn:a1:b\n"},
		{
			args: "extract --abbreviated --output json -", stdin: "www.a.org",
			want: `{"file":"-","start":0,"end":9,"output":"http://www.a.org","hyphen":false}` + "\n",
		},
		{
			args: "parse --output json a",
			want: `{"input":"a","scheme":null,"userinfo":null,"host":null,"port":null,"path":"a","query":null,"fragment":null}` + "\n",
		},
		{
			args: "parse --output json urn:a1:b?s=I2L",
			want: `{"input":"urn:a1:b?s=I2L","scheme":"urn","userinfo":null,"host":null,"port":null,"path":"a1:b","query":"s=I2L","fragment":null,` +
				`"urn":{"nid":"a1","nss":"b","r":null,"q":null,"f":null,"directives":[{"keyword":"s","value":"I2L"}],"conforms":["draft"],"lint":{"message":"a registered NID has more than two letters","offset":4,"rule":"short-nid","section":"RFC 8141 section 5.1"}}}` + "\n",
		},
		{
			args: "parse urn:foo:b?s=I2L&c=x x://a:b:c",
			want: "scheme=urn path=foo:b query=s=I2L&c=x nid=foo nss=b directive:s=I2L directive:c=x conforms=draft\n" +
				"scheme=x host=a:b:c registry=a:b:c path=\n",
		},
		{
			args: "encode urn:M\u00fcller:x", bad: true,
			want: "error: parsing \"urn:M%C3%BCller:x\": offset 5: NID: a NID is 2 to 32 letters, digits and " +
				"hyphens, with no hyphen first or last (RFC 8141 section 2.1)\n",
		},
		{
			args: "parse urn:x-a:b",
			want: "scheme=urn path=x-a:b nid=x-a nss=b conforms=rfc2141,draft,rfc8141 lint=experimental-nid\n",
		},
		{
			args: "key urn:a-:b", bad: true,
			want: `error: parsing "urn:a-:b": offset 5: NID: a NID is 2 to 32 letters, digits and hyphens, with no hyphen first or last (RFC 8141 section 2.1)` + "\n",
		},
		{args: "key --accept rfc2141 URN:A-:b urn:foo:b#f", bad: true, want: "urn:a-:b\n" +
			`error: parsing "urn:foo:b#f": offset 9: reserved: "?" and "#" are reserved, and not allowed in a URN (RFC 2141 section 2.3.2)` + "\n"},
		{
			args: "compare --for caching urn:foo:a?s=I2L&c=x urn:foo:a?c=x&s=I2L",
			want: "urn\tequal after the steps for URNs, for caching (draft-ietf-urnbis-rfc2141bis-urn-03 section 5, " +
				"step 5b)\n",
		},
		{
			args: "compare --for caching urn:foo:a?s=I2L urn:foo:a",
			want: "different\tdifferent after every step of normalization\n",
		},
	} {
		got, _, err := clitest.Run(t, Command(clitest.NamesOf), tt.stdin, strings.Split(tt.args, " ")...)
		if got != tt.want || errors.Is(err, cli.ErrReported) != tt.bad || err != nil && !tt.bad {
			t.Errorf("urnd uri %s: %v\ngot  %s\nwant %s", tt.args, err, got, tt.want)
		}
	}
}
