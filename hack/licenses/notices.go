package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

const rule = "================================================================================\n"

// notices returns one file with all texts. It has each text once, after the modules that
// it is of. The same modules give the same bytes.
func notices(texts []text) []byte {
	var order []string
	of := map[string][]text{}
	for _, t := range texts {
		content := strings.Trim(t.content, "\n") + "\n"
		if of[content] == nil {
			order = append(order, content)
		}
		of[content] = append(of[content], t)
	}
	// The text that most modules have comes first: people look for their own.
	slices.SortStableFunc(order, func(a, b string) int { return len(of[b]) - len(of[a]) })
	var out bytes.Buffer
	out.WriteString("Kinetic for kubectl is under the Apache License 2.0: see LICENSE.\n" +
		"Its binaries contain the work of others, under the licenses below.\n")
	for _, content := range order {
		out.WriteString("\n" + rule)
		for _, t := range of[content] {
			fmt.Fprintf(&out, "%s %s, %s", t.module.path, t.module.version, t.name)
			if t.kinds != nil {
				fmt.Fprintf(&out, " (%s)", strings.Join(t.kinds, ", "))
			}
			out.WriteByte('\n')
		}
		out.WriteString(rule + "\n" + content)
	}
	return out.Bytes()
}
