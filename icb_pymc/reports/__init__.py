"""A trace as a page that a decision-maker reads: `icb_pymc.report`.

Numbers come from `assess`; nothing here computes a posterior. (The room is called reports because the function is
called report.)

- `report`: the public function, and the three forms HTML, Markdown and JSON. `numbers`: the JSON form.
- `population`: a page on many subjects, with a report on each; `page_file`: what the pages share as files.
- `findings`: all numbers of a report. `page`: its sections in words, tables and drawings, with `over_time`, `checks`,
  `limits` and `methods` (how it was made); `parts`: what they are made of. `templates/` put them in place.
- `wording`: every sentence that depends on a number; another language needs this file and the templates.
- `charts`: the charts; `svg`: shapes, simplified paths and scales. `names`: names from untrusted files.
"""
