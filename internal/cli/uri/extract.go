package uri

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
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
	var options uri.ExtractOptions
	cmd := &cobra.Command{
		Use:   "extract [FILE...]",
		Short: "Print the URIs in running text",
		Long: `Print the URIs in running text, one a line: those in angle brackets, where white
space is ignored, and those without or between other delimiters
(draft-fielding-uri-syntax-02 appendix E). Without FILE, or where it is "-", it
reads standard input. Letters beyond ASCII are part of a URI, and are encoded.`,
		Example: `  urnd uri extract mail.txt
  urnd uri extract --output json - < mail.txt`,
	}
	output := cli.AddOutput(cmd, "one object for each URI, with positions", cli.CSV, cli.JSON)
	cmd.Flags().BoolVar(&options.Abbreviated, "abbreviated", false, "also find host names without a scheme, such as www.example.org/a")
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		if len(files) == 0 {
			files = []string{cli.Stdin}
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		table, err := output.Rows(out, "file", "start", "end", "output")
		if err != nil {
			return err
		}
		var faults []error
		for _, file := range files {
			text, err := cli.ReadAll(cmd, file, maxText)
			if err != nil {
				faults = append(faults, fmt.Errorf("extracting: %w", err))
				continue
			}
			for _, f := range uri.Extract(string(text), options) {
				u := f.URI.String()
				cells := []string{u}
				if output.Format == cli.CSV {
					cells = []string{file, strconv.Itoa(f.Start), strconv.Itoa(f.End), u}
				}
				if err := table.Row(extractJSON{file, f.Start, f.End, u, f.Hyphen}, cells...); err != nil {
					return err
				}
			}
		}
		return errors.Join(append(faults, out.Flush())...)
	}
	return cmd
}
