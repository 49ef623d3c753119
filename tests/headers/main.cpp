// That this links shows that no public header defines anything twice.
int main() { return 0; }
