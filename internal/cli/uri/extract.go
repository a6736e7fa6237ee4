package uri

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/uri"
)

// maxText bounds a text from which URIs are extracted.
const maxText = 64 << 20

type extractJSON struct {
	File   string `json:"file"`
	Start  int    `json:"start"` // octets from the start of the file
	End    int    `json:"end"`
	Output string `json:"output"`
	Hyphen bool   `json:"hyphen"` // a line was broken after a hyphen
}

func newExtract() *cobra.Command {
	var asJSON bool
	var options uri.ExtractOptions
	cmd := &cobra.Command{
		Use:   "extract [FILE...]",
		Short: "Print the URIs in running text",
		Long: `Print the URIs in running text, one a line: those in angle brackets, where white
space is ignored, and those without or between other delimiters
(draft-fielding-uri-syntax-02 appendix E). Without FILE, or where it is "-", it
reads standard input. Letters beyond ASCII are part of a URI, and are encoded.`,
		Example: `  urnd uri extract mail.txt
  urnd uri extract --json - < mail.txt`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 {
				files = []string{"-"}
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			var faults []error
			for _, file := range files {
				text, err := readText(cmd.InOrStdin(), file)
				if err != nil {
					faults = append(faults, err)
					continue
				}
				if err := printFound(out, file, uri.Extract(text, options), asJSON); err != nil {
					return err
				}
			}
			return errors.Join(append(faults, out.Flush())...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line, with positions")
	cmd.Flags().BoolVar(&options.Abbreviated, "abbreviated", false, "also find host names without a scheme, such as www.example.org/a")
	return cmd
}

func readText(stdin io.Reader, file string) (string, error) {
	in := stdin
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the user names it
		if err != nil {
			return "", fmt.Errorf("extracting: %w", err)
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, maxText+1))
	if err != nil {
		return "", fmt.Errorf("extracting from %s: %w", file, err)
	}
	if len(text) > maxText {
		return "", fmt.Errorf("extracting from %s: it is longer than %d octets", file, maxText)
	}
	return string(text), nil
}

func printFound(out io.Writer, file string, found []uri.Found, asJSON bool) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for _, f := range found {
		var err error
		if asJSON {
			err = encoder.Encode(extractJSON{file, f.Start, f.End, f.URI.String(), f.Hyphen})
		} else {
			_, err = fmt.Fprintln(out, f.URI)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
