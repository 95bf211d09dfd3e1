"""The towers' benchmark: its verdicts follow the targets, it skips by one line."""



from benchmarks import towers as benchmark

GIGA = 10**9


def test_skips_what_does_not_fit(capsys, monkeypatch):
    monkeypatch.setattr(benchmark, "available_bytes", lambda: 10**8)
    assert benchmark.main([]) == []
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == list(benchmark.CONTESTANTS)
    assert all("skipped, it needs about" in line for line in lines)


def test_verdicts_follow_the_targets():
    ours = benchmark.Result("towers", 1.5, 6 * GIGA, 20.0, 2.0, [1.6], 0.8)
    stack = benchmark.Result("stack", 1.4, 8 * GIGA, 20.0, 2.0, [1.6])
    mirrored = benchmark.Result("mirrored", 1.0, 11 * GIGA, 20.0, 2.0, [1.6])
    speed, bound, half, of_stack = benchmark.verdicts([ours, stack, mirrored])
    assert speed.endswith("1.50, reached")
    assert bound == "  1.88 if all but our convolutions took no time"
    assert half.endswith("0.55, NOT REACHED")
    assert of_stack.endswith("0.75, reached")
    table = benchmark.table_of([ours, stack, mirrored], "four towers")
    assert table.rows["mirrored"]["ours is"] == 1.5
    assert len(table.notes) == 4
    assert not benchmark.table_of([ours, stack, mirrored], "two", towers=2).notes
