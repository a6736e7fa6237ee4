package resolver_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
)

func TestUnreachable(t *testing.T) {
	once := resolver.Unreachable(errors.New("it is down"))
	for _, err := range []error{
		once, resolver.Unreachable(once),
		resolver.Unreachable(fmt.Errorf("asking: %w", once)),
	} {
		if !errors.Is(err, resolver.ErrUnreachable) || strings.Count(err.Error(), "source unreachable") != 1 ||
			!strings.HasSuffix(err.Error(), "it is down") {
			t.Errorf("%v", err)
		}
	}
}
