internal import ArgumentParser
internal import FoundationEssentials

/// The options of commands that look at or change one account.
struct AccountOptions: ParsableArguments {
    @OptionGroup var acting: OperatorOptions

    @Option(name: .long, help: ArgumentHelp("The user's id.", valueName: "uuid"), transform: UUID.argument)
    var user: UUID

    @Flag(name: .long, help: "Print JSON.")
    var json = false
}
