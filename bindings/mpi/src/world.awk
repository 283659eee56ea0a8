# Reads mpi.h after the preprocessor, and writes a wrapper of each function that takes a communicator: it replaces
# MPI_COMM_WORLD.
#
# Not wrapped: what is wrapped by hand, attributes and names, which stay those of MPI_COMM_WORLD (the limits of MPI are
# attributes of it), and conversions of handles.

BEGIN {
    RS = ";"
    split("Cart_create Graph_create Dist_graph_create Dist_graph_create_adjacent Comm_get_attr Comm_set_attr " \
          "Comm_delete_attr Attr_get Attr_put Attr_delete Comm_get_name Comm_set_name Comm_c2f Comm_toint Abort", names, " ")
    for (i in names) is_left_out[names[i]] = 1
    print "#include \"world.h\""
}

# The name of a parameter: its last word, before any brackets.
function name_of(parameter)
{
    sub(/(\[[^]]*\])+[ ]*$/, "", parameter)
    sub(/[ ]+$/, "", parameter)
    match(parameter, /[A-Za-z_0-9]+$/)
    return substr(parameter, RSTART)
}

# The text between the parentheses of a declaration.
function parameters_of(text,    depth, i, c)
{
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (c == "(") depth++
        if (c == ")" && --depth == 0) return substr(text, 2, i - 2)
    }
    return ""
}

{
    gsub(/(^|\n)#[^\n]*/, " ")
    gsub(/[ \t\n]+/, " ")
    if (!match($0, /[^A-Za-z_0-9]int P?MPIX?_[A-Z][A-Za-z_0-9]* ?\(/)) next
    name = substr($0, RSTART + 5, RLENGTH - 6)
    sub(/ $/, "", name)
    parameters = parameters_of(substr($0, RSTART + RLENGTH - 1))
    plain = name
    sub(/^P?MPI_/, "", plain)
    if (plain in is_left_out || is_written[name]++ || parameters ~ /\.\.\.|\(/) next
    arguments = ""
    num = split(parameters, each, ",")
    takes = 0
    for (i = 1; i <= num; i++) {
        argument = name_of(each[i])
        if (each[i] ~ /(^| )MPI_Comm [A-Za-z_0-9]+ ?$/) {
            argument = "world_of(" argument ")"
            takes = 1
        }
        arguments = arguments (i > 1 ? ", " : "") argument
    }
    if (!takes) next
    print "WRAP(" name ", (" parameters "), real(" arguments "))"
}
