import ArgumentParser
import HeliographLoad

@main
enum HeliographLoadCommand {
    static func main() async {
        await LoadCommand.main()
    }
}
