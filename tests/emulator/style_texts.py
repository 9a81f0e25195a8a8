"""What models write in each format: the calls ``f`` with a text and a number, and ``g`` with a truth value."""

# ruff: noqa: RUF001 - the bars in some tags are wide ones

from __future__ import annotations

TEXTS = {
    "hermes": '<tool_call>\n{"name": "f", "arguments": {"k": "v w", "n": 1}}\n</tool_call>\n'
    '<tool_call>\n{"name": "g", "arguments": {"on": true}}\n</tool_call>',
    "granite": '<|tool_call|>[{"name": "f", "arguments": {"k": "v w", "n": 1}}, '
    '{"name": "g", "arguments": {"on": true}}]',
    "internlm": '<|action_start|><|plugin|>{"name": "f", "parameters": {"k": "v w", "n": 1}}<|action_end|>',
    "command_r": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"k": "v w", "n": 1}}, '
    '{"tool_call_id": "1", "tool_name": "g", "parameters": {"on": true}}]<|END_ACTION|>',
    "phi4_mini": 'functools[{"name": "f", "arguments": {"k": "v w", "n": 1}}, '
    '{"name": "g", "arguments": {"on": true}}]',
    "lm_studio": '[TOOL_REQUEST]{"name": "f", "arguments": {"k": "v w", "n": 1}}[END_TOOL_REQUEST]\n'
    '[TOOL_REQUEST]{"name": "g", "arguments": {"on": true}}[END_TOOL_REQUEST]',
    "functionary": '<function=f>{"k": "v w", "n": 1}</function><function=g>{"on": true}</function>',
    "mistral": '[TOOL_CALLS]f[ARGS]{"k": "v w", "n": 1}[TOOL_CALLS]g[ARGS]{"on": true}',
    "mistral_old": '[TOOL_CALLS] [{"name": "f", "arguments": {"k": "v w", "n": 1}, "id": "#########"}, '
    '{"name": "g", "arguments": {"on": true}, "id": "#########"}]',
    "deepseek_v3": "<｜tool▁calls▁begin｜>"
    '<｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{"k": "v w", "n": 1}\n```<｜tool▁call▁end｜>\n'
    '<｜tool▁call▁begin｜>function<｜tool▁sep｜>g\n```json\n{"on": true}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "deepseek_v31": '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"k": "v w", "n": 1}<｜tool▁call▁end｜>'
    '<｜tool▁call▁begin｜>g<｜tool▁sep｜>{"on": true}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "deepseek_v32": '\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n'
    '<｜DSML｜parameter name="k" string="true">v w</｜DSML｜parameter>\n'
    '<｜DSML｜parameter name="n" string="false">1</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    '<｜DSML｜invoke name="g">\n<｜DSML｜parameter name="on" string="false">true</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
    "kimi_k2": "<|tool_calls_section_begin|>"
    '<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"k": "v w", "n": 1}<|tool_call_end|>'
    '<|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{"on": true}<|tool_call_end|>'
    "<|tool_calls_section_end|>",
    "harmony": '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"k": "v w", "n": 1}<|call|>'
    '<|start|>assistant<|channel|>commentary to=functions.g <|constrain|>json<|message|>{"on": true}<|call|>',
    "llama3_json": '{"name": "f", "parameters": {"k": "v w", "n": 1}}; {"name": "g", "parameters": {"on": true}}',
    "qwen3_coder": "<tool_call>\n<function=f>\n<parameter=k>\nv w\n</parameter>\n<parameter=n>\n1\n</parameter>\n"
    "</function>\n</tool_call>\n<tool_call>\n<function=g>\n<parameter=on>\ntrue\n</parameter>\n</function>\n</tool_call>",
    "seed_oss": "<seed:tool_call>\n<function=f>\n<parameter=k>v w</parameter>\n<parameter=n>1</parameter>\n"
    "</function>\n</seed:tool_call>\n"
    "<seed:tool_call>\n<function=g>\n<parameter=on>true</parameter>\n</function>\n</seed:tool_call>",
    "glm45": "<tool_call>f\n<arg_key>k</arg_key>\n<arg_value>v w</arg_value>\n"
    "<arg_key>n</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n"
    "<tool_call>g\n<arg_key>on</arg_key>\n<arg_value>true</arg_value>\n</tool_call>",
    "glm47": "<tool_call>f<arg_key>k</arg_key><arg_value>v w</arg_value><arg_key>n</arg_key><arg_value>1</arg_value>"
    "</tool_call><tool_call>g<arg_key>on</arg_key><arg_value>true</arg_value></tool_call>",
    "hunyuan_v3": "<tool_calls>\n<tool_call>f<tool_sep>\n<arg_key>k</arg_key>\n<arg_value>v w</arg_value>\n"
    "<arg_key>n</arg_key>\n<arg_value>1</arg_value>\n</tool_call>\n"
    "<tool_call>g<tool_sep>\n<arg_key>on</arg_key>\n<arg_value>true</arg_value>\n</tool_call>\n</tool_calls>",
    "minicpm5": '<function name="f"><param name="k">v w</param><param name="n">1</param></function>\n'
    '<function name="g"><param name="on">true</param></function>',
    "minimax_m2": '<minimax:tool_call>\n<invoke name="f">\n<parameter name="k">v w</parameter>\n'
    '<parameter name="n">1</parameter>\n</invoke>\n'
    '<invoke name="g">\n<parameter name="on">true</parameter>\n</invoke>\n</minimax:tool_call>',
    "kimi_k3": '<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|>'
    '<|open|>argument key="k" type="string"<|sep|>v w<|close|>argument<|sep|>'
    '<|open|>argument key="n" type="number"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|>'
    '<|open|>call tool="g" index="2"<|sep|><|open|>argument key="on" type="boolean"<|sep|>true'
    "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
    "pythonic": "[f(k='v w', n=1), g(on=True)]",
    "lfm2": '<|tool_call_start|>[f(k="v w", n=1), g(on=True)]<|tool_call_end|>',
    "olmo3": '<function_calls>f(k="v w", n=1)\ng(on=true)</function_calls>',
    "functiongemma": "<start_function_call>call:f{k:<escape>v w<escape>,n:1}<end_function_call>"
    "<start_function_call>call:g{on:true}<end_function_call>",
    "gemma4": '<|tool_call>call:f{k:<|"|>v w<|"|>,n:1}<tool_call|><|tool_call>call:g{on:true}<tool_call|>',
}
