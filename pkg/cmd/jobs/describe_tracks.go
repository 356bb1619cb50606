package jobs

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-kinetic/kinetic/pkg/cmd/cli"
	"github.com/kubectl-kinetic/kinetic/pkg/cmd/ui"
	"github.com/kubectl-kinetic/kinetic/pkg/job"
)

func signs() []string { return []string{"·", "░", "▒", "█", "▓"} }

// pipedBar is the width of a bar that is not printed to a terminal.
const pipedBar = 40

// tracks are the phases of a job's hosts, from the job's submission on.
type tracks struct {
	id         string
	begin, end time.Time
	all        []job.Track
}

// tracksOf returns the tracks of a job. A job that has not reached a first phase, or is a map, has none.
func tracksOf(d job.Description, now time.Time) (tracks, error) {
	t := tracks{id: d.Handle.JobID, begin: d.Handle.CreatedAt, end: d.Handle.CreatedAt, all: job.Tracks(d, now)}
	if d.Handle.Map != nil {
		return t, cli.Usagef("--timeline: job %s is a map, whose inputs run one after another in its pods", t.id)
	}
	for _, track := range t.all {
		for _, p := range track.Phases {
			if p.To.After(t.end) {
				t.end = p.To
			}
		}
	}
	if !t.end.After(t.begin) {
		return t, &cli.Error{Code: cli.ExitFailed, Err: fmt.Errorf("job %s has no pod yet, so there is no timeline", t.id)}
	}
	return t, nil
}

// print prints a row for each track: how long each of its phases took, and a bar.
func (t tracks) print(out io.Writer) error {
	var names []string
	for _, name := range job.PhaseNames() {
		if slices.ContainsFunc(t.all, func(track job.Track) bool { return took(track, name) > 0 }) {
			names = append(names, name)
		}
	}
	var table bytes.Buffer
	w := printers.GetNewTabWriter(&table)
	fmt.Fprintf(w, "\t%s\t\n", strings.ToUpper(strings.Join(names, "\t")))
	for _, track := range t.all {
		row := []string{track.Name}
		for _, name := range names {
			if d := took(track, name); d > 0 {
				row = append(row, ui.Took(d))
			} else {
				row = append(row, "-")
			}
		}
		fmt.Fprintln(w, strings.Join(row, "\t")+"\t")
	}
	if err := w.Flush(); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(table.String(), "\n"), "\n")
	width := pipedBar
	if columns := ui.Detect(out).Width(); columns > 0 {
		width = max(columns-len(lines[0]), leastBar)
	}
	fmt.Fprintf(out, "%s0s%*s\n", lines[0], width-len("0s"), ui.Took(t.end.Sub(t.begin)))
	for i, track := range t.all {
		fmt.Fprintln(out, strings.TrimRight(lines[i+1]+t.bar(track, width), " "))
	}
	var legend []string
	for _, name := range names {
		legend = append(legend, signs()[slices.Index(job.PhaseNames(), name)]+" "+name)
	}
	_, err := fmt.Fprintf(out, "\n%s\n", strings.Join(legend, "  "))
	return err
}

func took(track job.Track, name string) time.Duration {
	var sum time.Duration
	for _, p := range track.Phases {
		if p.Name == name {
			sum += p.To.Sub(p.From)
		}
	}
	return sum
}

// bar draws a track in width cells. A cell shows what was there last in its time.
func (t tracks) bar(track job.Track, width int) string {
	cells := slices.Repeat([]string{" "}, width)
	at := func(when time.Time) int {
		return min(max(int(when.Sub(t.begin)*time.Duration(width)/t.end.Sub(t.begin)), 0), width)
	}
	for _, p := range track.Phases {
		for c := at(p.From); c < max(at(p.To), min(at(p.From)+1, width)); c++ {
			cells[c] = signs()[slices.Index(job.PhaseNames(), p.Name)]
		}
	}
	return strings.Join(cells, "")
}

// The sizes of the picture, in pixels, and the colours of the phases.
const (
	pictureBar, pictureName, pictureRow = 720, 110, 26
	pictureStyle                        = `text{font:13px sans-serif;fill:#1f2328}.queued{fill:#afb8c1}.image{fill:#d4a72c}.packages{fill:#8250df}.run{fill:#1f883d}.collect{fill:#0969da}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}}`
)

// svg draws the tracks as a picture, with how long each phase took where the pointer rests on it.
func (t tracks) svg(out io.Writer) error {
	var b bytes.Buffer
	height := pictureRow * (len(t.all) + 3)
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n<style>%s</style>\n", pictureName+pictureBar+10, height, pictureStyle)
	total := t.end.Sub(t.begin)
	x := func(when time.Time) float64 {
		return pictureName + pictureBar*max(when.Sub(t.begin).Seconds(), 0)/total.Seconds()
	}
	text := func(x float64, y int, anchor, words string) {
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">", x, y, anchor)
		_ = xml.EscapeText(&b, []byte(words)) // a buffer takes all
		b.WriteString("</text>\n")
	}
	text(0, pictureRow-8, "start", t.id)
	text(pictureName+pictureBar, pictureRow-8, "end", ui.Took(total))
	for i, track := range t.all {
		y := pictureRow * (i + 1)
		text(0, y+16, "start", track.Name)
		for _, p := range track.Phases {
			fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s %s</title></rect>\n",
				p.Name, x(p.From), y+2, max(x(p.To)-x(p.From), 1), pictureRow-6, p.Name, ui.Took(p.To.Sub(p.From)))
		}
	}
	for i, name := range job.PhaseNames() {
		left := pictureName + 110*i
		fmt.Fprintf(&b, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"12\" height=\"12\"/>\n", name, left, height-pictureRow-11)
		text(float64(left+18), height-pictureRow, "start", name)
	}
	b.WriteString("</svg>\n")
	_, err := out.Write(b.Bytes())
	return err
}
