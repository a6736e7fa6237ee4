package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver/registry"
)

func TestUniqueMembers(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{`{}`, true},
		{`null`, true},
		{`"a"`, true},
		{`not JSON`, true},
		{`{"a":1`, true},
		{`{"a":1,"b":{"a":1},"c":[{"a":1},{"a":1}]}`, true},
		{`{"a":"b","b":"a"}`, true},
		{`{"a":["a","a"]}`, true},
		{`{"a":{},"b":[],"c":1}`, true},
		{`{"a":1,"a":1}`, false},
		{`{"a":1,"\u0061":2}`, false},
		{`{"b":{"a":1,"a":2}}`, false},
		{`[{"a":{"b":1},"a":[]}]`, false},
		{`{"a":[],"b":1,"a":null}`, false},
		{strings.Repeat("[", 2000), false},
		{`{"a":"\ud83d\ude00"}`, true},
		{`{"a":"\ud83d"}`, false},
		{`{"\udc00":1}`, false},
		{"{\"a\":\"\xc4\"}", false},
		{"{\"a\":\"\xc4\"", true},
	} {
		err := registry.UniqueMembers([]byte(c.text))
		if (err == nil) != c.want || err != nil && !errors.Is(err, registry.ErrInvalid) {
			t.Errorf("%.60s: %v", c.text, err)
		}
	}
}
