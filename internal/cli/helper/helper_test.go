package helper

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/squid"
)

// A panic becomes a response: Squid stops if its helpers die.
func TestHelperSurvivesPanic(t *testing.T) {
	var log strings.Builder
	answer := answerer(func(context.Context, string) squid.Answer { panic("test") }).protected(t.Context(), &log,
		"urn:a1:b")
	if answer != squid.Broken("internal error") || !strings.Contains(log.String(), "urnd: panic: test\n") {
		t.Errorf("%+v, %q", answer, log.String())
	}
	if text := strings.Repeat("x", 2*maxMessage); failed(errors.New(text)) != squid.Broken(text[:maxMessage]) {
		t.Error("a message is too long")
	}
}
