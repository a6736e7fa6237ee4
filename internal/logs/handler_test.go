package logs_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/logs"
)

// TestHandler checks that each format writes records of its level with advice and without passwords.
func TestHandler(t *testing.T) {
	for format, want := range map[string]string{
		"json": `"msg":"shown","error":"helped: broken","url":"http://u:xxxxx@a.example/"}` + "\n",
		"text": `msg=shown error="helped: broken" url=http://u:xxxxx@a.example/` + "\n",
		"auto": `"msg":"shown","error":"helped: broken"`, // a file is not a terminal
	} {
		path := filepath.Join(t.TempDir(), "log")
		file, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		handler, err := logs.NewHandler(logs.Config{
			Format: format, Level: slog.LevelWarn,
			Explain: func(err error) error {
				return fmt.Errorf("helped: %w", err)
			},
		}, file)
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(handler)
		log.Info("hidden")
		log.Warn("shown", "error", errors.New("broken"), "url", "http://u:secret@a.example/")
		text, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(text), want) || strings.Count(string(text), "\n") != 1 {
			t.Errorf("%s: %v %s", format, err, text)
		}
	}
}
