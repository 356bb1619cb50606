package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// report is what a run has found. It names neither the project nor an account, so that it can be sent.
type report struct {
	begun              time.Time
	zone, where        string
	client, kubernetes string
	rows               []row
	usd                float64 // of all, at most
}

func (r *report) begin(now time.Time, zone string) { r.begun, r.zone = now, zone }

// add adds a step, and what the run has cost until its end.
func (r *report) add(each row, usd float64) { r.rows, r.usd = append(r.rows, each), usd }

func (r *report) count(verdicts ...verdict) int {
	n := 0
	for _, each := range r.rows {
		for _, v := range verdicts {
			if each.verdict == v {
				n++
			}
		}
	}
	return n
}

// line says in a line how a step has ended.
func (r *report) line(each row) string {
	text := fmt.Sprintf("%-11s  %-16s  %6s  %s", each.verdict, each.name, took(each.took), each.what)
	if each.why != "" {
		text += ": " + each.why
	}
	return text
}

// closing is the last line of a run. A step without capacity was not proven, as one that was skipped.
func (r *report) closing() string {
	text := fmt.Sprintf("%d passed, %d failed", r.count(passed), r.count(failed))
	if n := r.count(skipped, noCapacity, notHere); n > 0 {
		text += fmt.Sprintf(", %d skipped", n)
	}
	return text
}

// took rounds a time to seconds.
func took(d time.Duration) string { return d.Round(time.Second).String() }

func (r *report) write(file string) error { return os.WriteFile(file, []byte(r.markdown()), 0o644) }

func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Acceptance, %s\n\n", r.begun.UTC().Format(time.DateOnly))
	fmt.Fprintf(&b, "**%s**\n\n| | |\n|---|---|\n", r.closing())
	for _, fact := range [][2]string{
		{"where", r.where},
		{"zone", r.zone},
		{"begun", r.begun.UTC().Format("2006-01-02 15:04 UTC")},
		{"client", fmt.Sprintf("%s, %s/%s", r.client, runtime.GOOS, runtime.GOARCH)},
		{"Kubernetes", r.kubernetes},
		{"cost", fmt.Sprintf("at most %s at list prices, with the cluster", dollars(r.usd))},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", fact[0], cell(fact[1]))
	}
	b.WriteString("\n| step | what | verdict | time | accelerators, at most |\n|---|---|---|---|---|\n")
	for _, each := range r.rows {
		usd := "-"
		if each.usd > 0 {
			usd = dollars(each.usd)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", each.name, cell(each.what), each.verdict, took(each.took), usd)
	}
	r.list(&b, "What did not pass", func(each row) string { return each.why })
	r.list(&b, "What was not proven here", func(each row) string { return each.unproven })
	return b.String()
}

// list writes what there is to say about steps.
func (r *report) list(b *strings.Builder, title string, of func(row) string) {
	for _, each := range r.rows {
		if text := of(each); text != "" {
			if title != "" {
				fmt.Fprintf(b, "\n## %s\n\n", title)
				title = ""
			}
			fmt.Fprintf(b, "- **%s**: %s\n", each.name, strings.ReplaceAll(text, "\n", " "))
		}
	}
}

// cell makes a text fit for a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", "\\|", "\n", " ").Replace(text)
}

// of returns the verdict of a step, "" if it has none.
func (r *report) of(name string) verdict {
	for _, each := range r.rows {
		if each.name == name {
			return each.verdict
		}
	}
	return ""
}
