package jobs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-kinetic/kinetic/pkg/api"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
)

// customPrefix begins the value of --output that names columns, as kubectl's.
const customPrefix = "custom-columns="

type customColumn struct {
	header string
	path   *jsonpath.JSONPath
}

// parseColumns reads the value of -o custom-columns: HEADER:PATH, separated by commas, with the paths of kubectl.
func parseColumns(spec string) ([]customColumn, error) {
	var columns []customColumn
	for _, word := range strings.Split(spec, ",") {
		header, path, found := strings.Cut(word, ":")
		path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
		if !found || header == "" || path == "" {
			return nil, cli.Usagef("--output %s%s: column %q: expected HEADER:PATH, such as LR:.args.lr", customPrefix, spec, word)
		}
		c := customColumn{header, jsonpath.New(header).AllowMissingKeys(true)}
		if err := c.path.Parse("{." + strings.TrimPrefix(path, ".") + "}"); err != nil {
			return nil, cli.Usagef("--output %s%s: column %q: %w", customPrefix, spec, word, err)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// customTable prints the columns that were asked for. They are paths in the items of -o json.
func (p *entryPrinter) customTable(entries []api.JobSummary) error {
	if p.table == nil {
		columns := make([]ui.Column, len(p.custom))
		for i, c := range p.custom {
			columns[i] = ui.Column{Header: c.header, Text: true}
		}
		p.table = ui.NewFitted(p.out, p.style, !p.noHeaders, columns...)
	}
	for _, e := range p.items(entries) {
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		var object any
		decoder := json.NewDecoder(bytes.NewReader(data))
		decoder.UseNumber() // which keeps the form of numbers
		if err := decoder.Decode(&object); err != nil {
			return err
		}
		row := make([]string, len(p.custom))
		for i, c := range p.custom {
			if row[i], err = c.cell(object); err != nil {
				return err
			}
		}
		p.table.Row(row...)
	}
	return p.table.Flush()
}

// cell returns what an object has at the path, "" if there is nothing.
func (c customColumn) cell(object any) (string, error) {
	found, err := c.path.FindResults(object)
	if err != nil {
		return "", fmt.Errorf("column %s: %w", c.header, err)
	}
	var words []string
	for _, values := range found {
		for _, v := range values {
			word, err := customText(v.Interface())
			if err != nil {
				return "", fmt.Errorf("column %s: %w", c.header, err)
			}
			words = append(words, word)
		}
	}
	return strings.Join(words, ","), nil
}

// customText returns a value as JSON, but a string without quotes, and "" for null.
func customText(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}
